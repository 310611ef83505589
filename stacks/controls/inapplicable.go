package controls

// Inapplicable is controls about something that the program does not make.
// When it does, they become rules: a test says so.
type Inapplicable struct {
	IDs   []string
	Types []string // of the resources that they would judge
	Why   string
}

// Inapplicables are the controls on platforms like this one that find nothing
// to judge here.
func Inapplicables() []Inapplicable {
	return []Inapplicable{
		{IDs: []string{"CKV_AWS_66", "CKV_AWS_158", "CKV_AWS_338"}, Types: []string{"aws:cloudwatch/logGroup:LogGroup"},
			Why: "No log group in CloudWatch: logs go to VictoriaLogs, and EMR's to the data bucket."},
		{IDs: []string{"CKV_AWS_149"}, Types: []string{"aws:secretsmanager/secret:Secret"},
			Why: "Nothing in Secrets Manager: the authorities are SSM SecureStrings under the stack's key, Grafana's password is a Kubernetes Secret, which K3s encrypts."},
		{IDs: []string{"CKV_AWS_273"}, Types: []string{"aws:iam/user:User", "aws:iam/accessKey:AccessKey"},
			Why: "No IAM users and no access keys: machines have roles."},
	}
}
