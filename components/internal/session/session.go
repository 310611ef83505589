// Package session has the permissions with which a machine's SSM agent serves
// Session Manager: a shell without SSH keys and open ports. AWS's own policy
// AmazonSSMManagedInstanceCore is not used, because it also permits reading every
// SSM parameter of the account, including the control node's CA keys.
package session

import "github.com/emr-observatory/emr-observatory/components/internal/iampolicy"

// Statements grant exactly what the agent needs (Systems Manager User Guide,
// "Create a custom IAM role for Session Manager"). The actions on message
// channels have no resource-level permissions (Service Authorization Reference,
// Amazon Message Gateway Service); they are limited to the region instead.
func Statements(a iampolicy.Account, region string) []iampolicy.Statement {
	inRegion := iampolicy.Condition{"StringEquals": {"aws:RequestedRegion": {region}}}
	return []iampolicy.Statement{
		{
			Sid: "SessionRegistration", Effect: iampolicy.Allow,
			Action:   []string{"ssm:UpdateInstanceInformation"},
			Resource: []string{"arn:" + a.Partition + ":ec2:" + region + ":" + a.ID + ":instance/*"},
		},
		{
			Sid: "SessionManager", Effect: iampolicy.Allow,
			Action: []string{
				"ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
				"ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
			},
			Resource: []string{"*"}, Condition: inRegion,
		},
	}
}
