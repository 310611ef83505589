package controls

import "slices"

// Exception is a rule that some resources do not meet, on purpose.
type Exception struct {
	Rule      string   // the rule's first id
	Resources []string // by name
	Reason    string   // why it is not met
	Weighed   string   // what speaks for it, and what is done instead
}

// Exceptions is all of them. Each must still be needed: a test says so when a
// resource meets its rule after all.
func Exceptions() []Exception {
	return []Exception{
		{
			Rule: "CKV_AWS_351", Resources: []string{"emr-security"},
			Reason:  "From emr-7.3.0 EMR then moves the web endpoints of YARN and HDFS to HTTPS, and the node's collector reads their metrics from them; neither can be tried without AWS.",
			Weighed: "The nodes' traffic stays in one subnet, between security groups that admit no address range. Instance families that end in n, and those of the sixth generation on, encrypt it between themselves. Jobs with a need of their own set spark.network.crypto.enabled in emr.sparkDefaults.",
		},
		{
			Rule: "CKV_AWS_341", Resources: []string{"control-instance"},
			Reason:  "A pod without the node's network is one hop further away: with a limit of 1 Tempo and Pyroscope have no credentials for S3.",
			Weighed: "Static credentials in a Secret would be worse to keep. Network policies admit the four workloads that need the role and nobody else; the role reaches three prefixes, one key and CloudWatch's numbers.",
		},
		{
			Rule: "AWS-0104", Resources: []string{"network-control-https-out", "network-core-https-out", "network-master-https-out"},
			Reason:  "AWS's APIs, image registries and package mirrors have no stable addresses: a narrower list would be wrong tomorrow.",
			Weighed: "TCP port 443 only. Whether a packet gets anywhere is for the routes to say: a stack without NAT and with interface endpoints has no way out at all. Flow logs show what left.",
		},
		{
			Rule: "CKV_AWS_18", Resources: []string{"storage-logs"},
			Reason:  "It is the bucket that access logs are written to: logging access to it would make the log grow by itself.",
			Weighed: "Only S3's and the flow logs' delivery may write to it, and its versions outlive an overwrite.",
		},
		{
			Rule: "CKV_AWS_145", Resources: []string{"storage-logs"},
			Reason:  "S3 delivers access logs only to buckets that are encrypted with S3's own keys (S3 User Guide, \"Enabling server access logging\").",
			Weighed: "It is encrypted with AES256, and holds requests and flows, no content.",
		},
		{
			Rule: "CKV2_AWS_62", Resources: []string{"storage-data", "storage-logs"},
			Reason:  "Nothing waits for an event: Tempo and Pyroscope poll their own blocks, jobs are started by steps.",
			Weighed: "A notification nobody reads is one more thing to keep right; requests are in the access log.",
		},
		{
			Rule: "CKV_AWS_144", Resources: []string{"storage-data", "storage-logs"},
			Reason:  "Traces, profiles and logs explain jobs of one region and are worth weeks; a second copy doubles their price and takes them out of the region.",
			Weighed: "Versions undo a wrong deletion, the buckets are protected and stay when the stack goes. Who keeps results under lake/ that cannot be computed again replicates that prefix in a program of their own.",
		},
		{
			Rule: "CKV2_AWS_9", Resources: []string{"control-data"},
			Reason:  "The volume holds weeks of metrics and logs, write-ahead logs, and Kubernetes objects that the program writes again.",
			Weighed: "Traces and profiles are in S3 a quarter of an hour later, dashboards in the program. The volume is protected, stays when the stack goes, and carries the stack's tags, by which a backup plan of the account selects it.",
		},
	}
}

// excepted tells whether an exception covers the resource.
func excepted(rule Rule, r Resource) bool {
	return slices.ContainsFunc(Exceptions(), func(e Exception) bool {
		return e.Rule == rule.ID() && slices.Contains(e.Resources, r.Name)
	})
}

// Unneeded gives the exceptions, by rule and resource, that no verdict used.
func Unneeded(verdicts []Verdict) []string {
	used := map[string]bool{}
	for _, v := range verdicts {
		for _, f := range v.Excepted {
			used[f.Rule+" "+f.Resource] = true
		}
	}
	var out []string
	for _, e := range Exceptions() {
		for _, name := range e.Resources {
			if key := e.Rule + " " + name; !used[key] {
				out = append(out, key)
			}
		}
	}
	return out
}
