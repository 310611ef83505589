package controls

import (
	"fmt"
	"slices"
	"strings"
)

// Allowance lists actions that one policy allows for a purpose.
type Allowance struct {
	Policy  string // name of the resource with the policy
	Holder  string // who may perform the actions
	Actions []string
	Purpose string
}

// Allowances lists every action that any policy of the program allows. A test
// compares the list with the policies.
func Allowances() []Allowance { return append(always(), conditional()...) }

const (
	node    = "an EMR node and its jobs"
	control = "the control node and the pods that reach its role"
)

// conditional lists the actions that only some configurations need.
func conditional() []Allowance {
	return []Allowance{
		{"emr-main-node", node, []string{"kms:Encrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo"},
			"Only if EMR encrypts an instance store with LUKS: then the node is a user of the key, as EMR's guide asks."},
		{"control-access", control, []string{
			"elasticmapreduce:ListInstanceGroups", "elasticmapreduce:ListInstanceFleets",
			"elasticmapreduce:CreatePersistentAppUI",
			"elasticmapreduce:DescribePersistentAppUI", "elasticmapreduce:GetPersistentAppUIPresignedURL",
			"elasticmapreduce:AccessAllEventLogs", "elasticmapreduce:GetOnClusterAppUIPresignedURL"},
			"The profiler opens the Spark history of clusters with the stack's tags, and reads what they cost; only if profiler.enabled. " +
				"With profiler.scope account, of every cluster of the account and region."},
		{"control-assume-tools-role", control, []string{"sts:AssumeRole"},
			"The tools' pod assumes the role that reads the history; only if profiler.enabled."},
		{"control-tools-role", "the control node's role", []string{"sts:AssumeRole"},
			"The tools answer people's agents with the right to read the history and no other; only if profiler.enabled."},
		{"schedules-start", "EventBridge Scheduler", []string{"elasticmapreduce:AddJobFlowSteps"},
			"It adds the steps of schedules to the clusters that they name; only with schedules."},
		{"schedules-start", "EventBridge Scheduler", []string{
			"elasticmapreduce:RunJobFlow", "elasticmapreduce:AddTags", "iam:PassRole", "iam:CreateServiceLinkedRole"},
			"It starts clusters with the tag of those whose startedBy is schedules, and gives EMR their roles; only with such a cluster. " +
				"EMR's role for cleaning up is created with an account's first cluster."},
		{"schedules-start", "EventBridge Scheduler", []string{"sts:AssumeRole"},
			"It takes the role for the schedules of the stack's group alone."},
		{"schedules-start", "EventBridge Scheduler", []string{"sqs:SendMessage"}, "It keeps runs that did not start, in a queue of their own."},
		{"schedules-lost", control, []string{"sqs:ReceiveMessage", "sqs:DeleteMessage"},
			"The status page says which run did not start, and takes it off the queue; only with schedules."},
		{"control-tools-access", "the tools", []string{"s3:GetObject", "s3:ListBucket"}, "They read the tables under lake/history/."},
		{"control-tools-access", "the tools", []string{"kms:Decrypt"}, "Its objects are encrypted with the stack's key; only through S3."},
	}
}

// always lists the actions that every stack needs.
func always() []Allowance {
	const service = "EMR itself"
	return []Allowance{
		{"control-role", "EC2", []string{"sts:AssumeRole"}, "EC2 gives the role to the control node."},
		{"control-access", control, []string{
			"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"},
			"Tempo and Pyroscope write, compact and delete blocks under their own prefixes, the profiler tables under lake/history/; " +
				"pods read artifacts/."},
		{"control-access", control, []string{"s3:ListBucket", "s3:GetBucketLocation"},
			"Tempo and Pyroscope list their blocks, the profiler its tables; clients look up the bucket's region."},
		{"control-access", control, []string{"kms:Decrypt", "kms:GenerateDataKey"},
			"Objects and parameters are encrypted with the stack's key; only through S3 and SSM."},
		{"control-access", control, []string{"ssm:GetParameter"}, "An instance's first boot fetches the certificates of K3s' authorities, " +
			"by name; the collector's pod fetches the headers for tracing.endpoint, if tracing.headersParameter names them."},
		{"control-boot-access", control, []string{"ssm:GetParameter"}, "An instance's first boot fetches the keys of K3s' authorities, by " +
			"name, in the hour after its volume was attached."},
		{"control-access", control, []string{
			"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics", "tag:GetResources"},
			"The CloudWatch exporter reads metrics of resources with the stack's tags."},
		{"control-access", control, []string{"elasticmapreduce:ListSteps"},
			"The status server shows the last steps of clusters that send telemetry here, and sends a span and metrics of each; " +
				"the profiler links them to applications. Without profiler.enabled, only of clusters with the stack's tags."},
		{"control-access", control, []string{
			"elasticmapreduce:DescribeCluster", "elasticmapreduce:ListBootstrapActions", "elasticmapreduce:ListInstances",
			"elasticmapreduce:ListClusters"},
			"The status server reads name, state, bootstrap action and nodes of every cluster that sends telemetry here, whoever started it, " +
				"and lists the stack's own, which may never send any."},
		{"control-access", control, sessionActions(), "Shell access is by Session Manager: no SSH keys, no open port."},
		{"emr-main-node", "EC2", []string{"sts:AssumeRole"}, "EC2 gives the role to the cluster's instances."},
		{"emr-main-node", node, []string{"s3:GetObject"},
			"The bootstrap action fetches artifacts/ and EMR its own libraries; jobs read lake/ except lake/history/."},
		{"emr-main-node", node, []string{"s3:PutObject", "s3:AbortMultipartUpload"},
			"EMR pushes logs to emr-logs/; jobs write lake/ except lake/history/."},
		{"emr-main-node", node, []string{"s3:DeleteObject", "s3:ListMultipartUploadParts"},
			"Jobs overwrite their output in lake/; S3A's committers complete uploads of other processes."},
		{"emr-main-node", node, []string{"s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads"},
			"S3A lists prefixes and aborts its incomplete uploads."},
		{"emr-main-node", node, []string{"kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey"},
			"S3 encrypts objects, and LUKS local disks, with the stack's key."},
		{"emr-main-node", node, sessionActions(), "Shell access is by Session Manager: no SSH keys, no open port."},
		{"emr-main-service", "EMR", []string{"sts:AssumeRole"}, "EMR runs clusters of this account and region with the role."},
		{"emr-main-service", service, []string{"iam:PassRole"}, "EMR starts instances with the node role, and passes it to EC2 only."},
		{"emr-main-service", service, []string{"kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo",
			"kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:CreateGrant"},
			"EC2 encrypts the nodes' volumes for EMR; allowed only through EC2, and grants only to AWS services."},
		{"emr-main-service", service, []string{"kms:DescribeKey"}, "EMR checks the key before it starts a cluster."},
		{"storage-logs", "S3's and the flow logs' delivery", []string{"s3:PutObject"},
			"Writes access logs of the data bucket and flow logs of the account, each under its own prefix."},
		{"storage-logs", "flow logs' delivery", []string{"s3:GetBucketAcl", "s3:ListBucket"},
			"Checks that the bucket belongs to the account before it delivers."},
		{"storage-key", "the account", []string{"kms:*"},
			"AWS's default key policy: it grants nothing by itself, and lets the account's IAM policies decide."},
	}
}

// sessionActions returns the actions that Session Manager's agent needs.
func sessionActions() []string {
	return []string{
		"ssm:UpdateInstanceInformation",
		"ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
		"ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
	}
}

// CheckAllowances compares Allowances with the policies. It reports actions that are
// allowed but not listed, listed but not allowed, or listed twice.
func CheckAllowances(all Resources) []Finding {
	const name = "observatory/allowances"
	listed, used := map[string]bool{}, map[string]bool{}
	var out []Finding
	for _, a := range Allowances() {
		for _, action := range a.Actions {
			key := a.Policy + " " + action
			if listed[key] {
				out = append(out, Finding{name, a.Policy, action + " is listed twice"})
			}
			listed[key] = true
		}
	}
	for _, a := range conditional() {
		for _, action := range a.Actions {
			used[a.Policy+" "+action] = true
		}
	}
	for _, r := range all {
		input, ok := policyInput[r.Type]
		if !ok {
			continue
		}
		d, err := parsePolicy(r.Text(input))
		if err != nil {
			out = append(out, Finding{name, r.Name, err.Error()})
			continue
		}
		for _, action := range allowed(d) {
			key := r.Name + " " + action
			used[key] = true
			if !listed[key] {
				out = append(out, Finding{name, r.Name, fmt.Sprintf("allows %s, which is not listed; "+
					"remove it, or list it with its purpose", action)})
			}
		}
	}
	for key := range listed {
		if !used[key] {
			policy, action, _ := strings.Cut(key, " ")
			out = append(out, Finding{name, policy, action + " is listed but not allowed; remove it from the list"})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// allowed returns the actions that a policy allows.
func allowed(d document) []string {
	var out []string
	for _, s := range d.Statement {
		if s.Effect == allow {
			out = append(out, s.Action...)
		}
	}
	return out
}
