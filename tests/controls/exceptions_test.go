package controls

import "slices"

// Exception is a rule that some resources violate on purpose.
type Exception struct {
	Rule       string   // the rule's first id
	Stacks     []string // nil: every stack
	Resources  []string // names, or the rule's types if the stack has no such resource
	Reason     string   // why the rule is not met
	Mitigation string   // what limits the risk instead
}

// Exceptions lists all exceptions. A test fails if a listed resource meets its rule.
func Exceptions() []Exception {
	return slices.Concat(everyStack(), []Exception{publicControlNode()}, existingNetwork())
}

// publicControlNode is the exception for controlNode.access public.
func publicControlNode() Exception {
	return Exception{
		Rule: "CKV_AWS_88", Stacks: []string{"dev", "local"}, Resources: []string{"control-instance"},
		Reason: "controlNode.access is public: a new VPC has no other way in, and `pulumi up` configures Kubernetes and Grafana on the " +
			"control node.",
		Mitigation: "The security group admits operatorCidrs only, which must be public networks of /8 or narrower, to four ports. " +
			"Kubernetes requires a client certificate, Grafana a password. EMR's nodes have no public address. Access vpc and tunnel " +
			"need none.",
	}
}

// existingNetwork returns exceptions for stacks that use an existing network.
func existingNetwork() []Exception {
	var out []Exception
	for _, e := range []struct{ rule, resource string }{
		{"EMR.1", "emr-main-cluster"},
		{"CKV2_AWS_19", "aws:ec2/eip:Eip"},
		{"CKV2_AWS_12", "aws:ec2/vpc:Vpc"},
		{"CKV2_AWS_11", "aws:ec2/vpc:Vpc"},
		{"CKV_AWS_130", "aws:ec2/subnet:Subnet"},
	} {
		out = append(out, Exception{
			Rule: e.rule, Stacks: []string{"pr"}, Resources: []string{e.resource},
			Reason: "network.vpcId and network.subnetIds name an existing network: the program creates no VPC, subnet, route or NAT gateway, " +
				"and cannot inspect the existing ones.",
			Mitigation: "The network's own stack is responsible for it. The security groups of the nodes admit no address range.",
		})
	}
	return out
}

// everyStack are the exceptions for every configuration, but for the first, which
// blockPublicAccess makes needless.
func everyStack() []Exception {
	return []Exception{
		{
			Rule: "CKV_AWS_390", Stacks: []string{"dev", "local", "pr"}, Resources: []string{"emr-main-cluster"},
			Reason: "The setting belongs to the account and region, and other clusters there may need another: only " +
				"blockPublicAccess makes it, which these stacks leave to the account's owner.",
			Mitigation: "AWS's default blocks public clusters, except for port 22, in regions without clusters before November 2019. " +
				"The security groups of the nodes admit no address range.",
		},
		{
			Rule: "CKV_AWS_171", Resources: []string{"emr-main-security"},
			Reason: "EMR would send the key with every write, to other teams' buckets too: readers there may not use it, and it is deleted " +
				"with an ephemeral stack. Overrides choose another mode for a bucket, but none leaves the bucket's own.",
			Mitigation: "The data bucket encrypts with the stack's key by default, and its policy refuses any other. S3 encrypts every " +
				"object of other buckets as their owners have set.",
		},
		{
			Rule: "CKV_AWS_351", Resources: []string{"emr-main-security"},
			Reason: "From emr-7.3.0 it also moves the web endpoints of YARN and HDFS to HTTPS, from which the node's collector reads " +
				"metrics; that cannot be tested without AWS. encryption.certificates switches it on for a cluster.",
			Mitigation: "The nodes' traffic stays in one subnet, between security groups that admit no address range. Instance families " +
				"that end in n, and those from the sixth generation on, encrypt traffic between instances. A job that needs encryption " +
				"sets spark.network.crypto.enabled in clusters.main.sparkDefaults.",
		},
		{
			Rule: "CKV_AWS_341", Resources: []string{"control-instance"},
			Reason: "A pod outside the host network is one hop further away: with a limit of 1 Tempo and Pyroscope have no " +
				"credentials for S3.",
			Mitigation: "Static credentials in a Secret would be a greater risk. Network policies admit only the workloads that need the " +
				"role; the role allows five prefixes, one key, CloudWatch's metrics and EMR's history.",
		},
		{
			Rule: "AWS-0104", Resources: []string{"network-control-https-out", "emr-main-core-https-out", "emr-main-master-https-out"},
			Reason: "AWS's APIs, image registries and package mirrors have no stable addresses, so a narrower list would become outdated.",
			Mitigation: "TCP port 443 only; the control node's group also has the port of a tracing.endpoint that is a name. Flow logs " +
				"record the traffic.",
		},
		{
			Rule: "CKV_AWS_18", Resources: []string{"storage-logs"},
			Reason:     "It is the bucket of the access logs: each delivery of a log would itself be logged.",
			Mitigation: "Only S3's and the flow logs' delivery may write to it, and versioning keeps overwritten objects.",
		},
		{
			Rule: "CKV_AWS_145", Resources: []string{"storage-logs"},
			Reason: "S3 delivers access logs only to buckets that are encrypted with S3's own keys (S3 User Guide, \"Enabling server " +
				"access logging\").",
			Mitigation: "It is encrypted with AES256, and holds records of requests and flows, not data.",
		},
		{
			Rule: "CKV2_AWS_62", Resources: []string{"storage-data", "storage-logs"},
			Reason:     "Nothing consumes events: Tempo and Pyroscope poll for blocks, and steps start jobs.",
			Mitigation: "Requests are in the access log.",
		},
		{
			Rule: "CKV_AWS_144", Resources: []string{"storage-data", "storage-logs"},
			Reason: "Traces, profiles and logs explain jobs of one region and are useful for weeks; a second copy doubles their cost and " +
				"moves them out of the region.",
			Mitigation: "Versioning undoes an accidental deletion, and the buckets are protected and retained when the stack is destroyed. " +
				"Users with results under lake/ that cannot be recomputed replicate that prefix with a program of their own.",
		},
		{
			Rule: "CKV2_AWS_9", Resources: []string{"control-data"},
			Reason: "The volume holds weeks of metrics and logs, write-ahead logs, and Kubernetes objects that the program can recreate.",
			Mitigation: "Traces and profiles reach S3 within a quarter of an hour, and dashboards are part of the program. The volume is " +
				"protected, retained when the stack is destroyed, and has the stack's tags, by which an account's backup plan can select it.",
		},
	}
}

func (e Exception) appliesTo(stack string) bool {
	return e.Stacks == nil || slices.Contains(e.Stacks, stack)
}

// excepted reports whether an exception covers the finding.
func hasException(stack string, f Finding) bool {
	return slices.ContainsFunc(Exceptions(), func(e Exception) bool {
		return e.Rule == f.Rule && e.appliesTo(stack) && slices.Contains(e.Resources, f.Resource)
	})
}

// ExceptionsOf returns the exceptions that apply to a stack.
func ExceptionsOf(stack string) []Exception {
	return slices.DeleteFunc(Exceptions(), func(e Exception) bool { return !e.appliesTo(stack) })
}

// Unneeded returns the exceptions of a stack whose rule is met, as "rule resource".
func Unneeded(stack string, verdicts []Verdict) []string {
	used := map[string]bool{}
	for _, v := range verdicts {
		for _, f := range v.Excepted {
			used[f.Rule+" "+f.Resource] = true
		}
	}
	var out []string
	for _, e := range ExceptionsOf(stack) {
		for _, name := range e.Resources {
			if key := e.Rule + " " + name; !used[key] {
				out = append(out, key)
			}
		}
	}
	return out
}
