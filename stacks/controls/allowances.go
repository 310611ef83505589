package controls

import (
	"fmt"
	"slices"
	"strings"
)

// Allowance is what one policy allows, and for what.
type Allowance struct {
	Policy  string // name of the recorded resource that holds it
	Holder  string // who is allowed
	Actions []string
	Needs   string // why
}

// Allowances is every action that any policy of the program allows. An action
// that is not here, or here and not allowed, fails the tests.
func Allowances() []Allowance {
	const control, node, service = "the control node and the pods that reach its role", "an EMR node and its jobs", "EMR itself"
	return []Allowance{
		{"control-role", "EC2", []string{"sts:AssumeRole"}, "Hands the role to the control node."},
		{"control-access", control, []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"},
			"Tempo and Pyroscope write, compact and delete blocks under their own prefixes; the status server's pod reads artifacts/."},
		{"control-access", control, []string{"s3:ListBucket", "s3:GetBucketLocation"}, "Tempo and Pyroscope find their blocks; clients ask for the bucket's region."},
		{"control-access", control, []string{"kms:Decrypt", "kms:GenerateDataKey"}, "Objects and parameters are encrypted with the stack's key; only through S3 and SSM."},
		{"control-access", control, []string{"ssm:GetParameter"}, "The first boot fetches the certificate authorities of K3s, by name."},
		{"control-access", control, []string{"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics", "tag:GetResources"},
			"The CloudWatch exporter reads numbers of what carries the stack's tags."},
		{"control-access", control, sessionActions(), "Session Manager is the way in: no SSH keys, no open port."},
		{"emr-node", "EC2", []string{"sts:AssumeRole"}, "Hands the role to the cluster's instances."},
		{"emr-node", node, []string{"s3:GetObject"}, "The bootstrap action fetches artifacts/ and EMR its own libraries; jobs read lake/."},
		{"emr-node", node, []string{"s3:PutObject", "s3:AbortMultipartUpload"}, "EMR pushes logs to emr-logs/; jobs write lake/."},
		{"emr-node", node, []string{"s3:DeleteObject", "s3:ListMultipartUploadParts"}, "Jobs replace what they wrote in lake/; S3A's committers finish uploads of other processes."},
		{"emr-node", node, []string{"s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads"}, "S3A lists prefixes and cleans up after itself."},
		{"emr-node", node, []string{"kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey"}, "Objects through S3, and local disks directly, are encrypted with the stack's key."},
		{"emr-node", node, sessionActions(), "Session Manager is the way in: no SSH keys, no open port."},
		{"emr-service", "EMR", []string{"sts:AssumeRole"}, "EMR runs clusters of this account and region with it."},
		{"emr-service", service, []string{"iam:PassRole"}, "EMR starts instances with the node role, and passes it to EC2 alone."},
		{"emr-service", service, []string{"kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:CreateGrant"},
			"EC2 encrypts the nodes' volumes on EMR's behalf; only through EC2, grants only for AWS's own use."},
		{"emr-service", service, []string{"kms:DescribeKey"}, "EMR looks at the key before it starts a cluster."},
		{"storage-logs", "S3's and the flow logs' delivery", []string{"s3:PutObject"}, "Writes access logs of the data bucket and flow logs of the account, each below its own prefix."},
		{"storage-logs", "flow logs' delivery", []string{"s3:GetBucketAcl", "s3:ListBucket"}, "Asks whether the bucket is the account's before it delivers."},
		{"storage-key", "the account", []string{"kms:*"}, "AWS's default key policy: by itself it allows nobody anything, it lets the account's IAM policies decide."},
	}
}

func sessionActions() []string {
	return []string{
		"ssm:UpdateInstanceInformation",
		"ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
		"ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
	}
}

// Unlisted compares the table with the recorded policies: what is allowed and
// not listed, what is listed and not allowed, and what stands there twice.
func Unlisted(all Resources) []Finding {
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
	for _, r := range all {
		at, holds := policyAt[r.Type]
		if !holds {
			continue
		}
		d, err := parsePolicy(r.Text(at))
		if err != nil {
			out = append(out, Finding{name, r.Name, err.Error()})
			continue
		}
		for _, action := range allowed(d) {
			key := r.Name + " " + action
			used[key] = true
			if !listed[key] {
				out = append(out, Finding{name, r.Name, fmt.Sprintf("allows %s, which nobody is listed to need; take it away, or list it with its reason", action)})
			}
		}
	}
	for key := range listed {
		if !used[key] {
			policy, action, _ := strings.Cut(key, " ")
			out = append(out, Finding{name, policy, action + " is listed and not allowed; take it from the table"})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// allowed gives the actions that a policy allows.
func allowed(d document) []string {
	var out []string
	for _, s := range d.Statement {
		if s.Effect == allow {
			out = append(out, s.Action...)
		}
	}
	return out
}
