package controls

// Inapplicable are controls for resources that the program does not create. A test
// fails once it creates one: the controls must then become rules.
type Inapplicable struct {
	IDs   []string
	Types []string // of the resources that they would apply to
	Why   string   // what the program uses instead
}

// Inapplicables lists the known controls that have no resource in this program.
func Inapplicables() []Inapplicable {
	return []Inapplicable{
		{IDs: []string{"CKV_AWS_66", "CKV_AWS_158", "CKV_AWS_338"}, Types: []string{"aws:cloudwatch/logGroup:LogGroup"},
			Why: "No log group in CloudWatch: logs go to VictoriaLogs, and EMR's to the data bucket."},
		{IDs: []string{"CKV_AWS_149"}, Types: []string{"aws:secretsmanager/secret:Secret"},
			Why: "No secrets in Secrets Manager: the CAs are SSM SecureStrings under the stack's key, Grafana's password is a " +
				"Kubernetes Secret, which K3s encrypts."},
		{IDs: []string{"CKV_AWS_273"}, Types: []string{"aws:iam/user:User", "aws:iam/accessKey:AccessKey"},
			Why: "No IAM users and no access keys: machines have roles."},
	}
}
