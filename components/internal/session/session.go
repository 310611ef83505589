// Package session lets the SSM agent of a machine serve Session Manager, the
// way in without SSH keys and open ports. AWS's own AmazonSSMManagedInstanceCore
// is not used: it also lets its holder read every SSM parameter of the account,
// the private keys of the control node's authorities among them.
package session

import "github.com/emr-observatory/emr-observatory/components/internal/iampolicy"

// Statements are what the agent needs, and no more (Systems Manager User
// Guide, "Create a custom IAM role for Session Manager"). The message channels
// know no resources (Service Authorization Reference, Amazon Message Gateway
// Service); they are bound to the region instead.
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
