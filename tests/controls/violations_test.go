package controls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/tests/controls"
)

// violation is an alteration after which a resource violates a rule.
type violation struct {
	rule, resource string
	alteration     alteration
}

const (
	security  = "SecurityConfiguration"
	encrypted = "BucketServerSideEncryptionConfigurationV2"
	blocked   = "BucketPublicAccessBlock"
	ingress   = "SecurityGroupIngressRule"
	egress    = "SecurityGroupEgressRule"
)

func emrViolations() []violation {
	document := func(from, to string) alteration {
		return edit(security, "emr-main-security", "configuration", from, to)
	}
	return []violation{
		{"CKV2_AWS_55", "emr-main-cluster", set("Cluster", "emr-main-cluster", "securityConfiguration", nil)},
		{"CKV2_AWS_55", "emr-main-cluster", drop(security, "emr-main-security")},
		{"CKV_AWS_349", "emr-main-security", document(`"EnableAtRestEncryption":true`, `"EnableAtRestEncryption":false`)},
		{"AWS-0139", "emr-main-security", document(`"EncryptionKeyProviderType":"AwsKms"`, `"EncryptionKeyProviderType":"Custom"`)},
		{"CKV_AWS_350", "emr-main-security", document(`"EnableEbsEncryption":true`, `"EnableEbsEncryption":false`)},
		{"observatory/emr-imds", "emr-main-security", document(`"HttpPutResponseHopLimit":1`, `"HttpPutResponseHopLimit":2`)},
		{"observatory/emr-imds", "emr-main-security",
			document(`"MinimumInstanceMetadataServiceVersion":2`, `"MinimumInstanceMetadataServiceVersion":1`)},
		{"CKV_AWS_114", "emr-main-cluster", set("Cluster", "emr-main-cluster", "kerberosAttributes", map[string]any{"kdcAdminPassword": "x"})},
		{"EMR.1", "emr-main-cluster", set("Cluster", "emr-main-cluster", "ec2Attributes.subnetId", "network-public-a-id")},
		{"EMR.1", "emr-main-cluster", set("Cluster", "emr-main-cluster", "ec2Attributes.subnetId", nil)},
		{"EMR.1", "emr-main-cluster", inSubnets("network-private-a-id", "network-public-a-id")},
		{"EMR.1", "emr-main-cluster", set("Subnet", "network-private-a", "mapPublicIpOnLaunch", true)},
		{"EMR.1", "emr-main-cluster", set("Route", "network-private-out", "gatewayId", "igw")},
		{"emr_cluster_publicly_accesible", "emr-main-cluster",
			both(set(ingress, "emr-main-core-tcp-from-master", "referencedSecurityGroupId", nil),
				set(ingress, "emr-main-core-tcp-from-master", "cidrIpv4", "10.0.0.0/8"))},
		{"emr_cluster_publicly_accesible", "emr-main-cluster",
			set("Cluster", "emr-main-cluster", "ec2Attributes.additionalSlaveSecurityGroups", "network-observed-id,network-control-id")},
	}
}

// inSubnets names several subnets, as a cluster of instance fleets does.
func inSubnets(ids ...any) alteration {
	return both(set("Cluster", "emr-main-cluster", "ec2Attributes.subnetId", nil),
		set("Cluster", "emr-main-cluster", "ec2Attributes.subnetIds", ids))
}

// blockViolations apply to a stack with blockPublicAccess.
func blockViolations() []violation {
	const block, name = "BlockPublicAccessConfiguration", "emr-block-public-access"
	permit := func(port float64) []any { return []any{map[string]any{"minRange": 22.0, "maxRange": port}} }
	return []violation{
		{"CKV_AWS_390", "emr-main-cluster", drop(block, name)},
		{"CKV_AWS_390", "emr-main-cluster", set(block, name, "blockPublicSecurityGroupRules", false)},
		{"CKV_AWS_390", "emr-main-cluster", set(block, name, "permittedPublicSecurityGroupRuleRanges", permit(443))},
		{"CKV_AWS_390", "emr-main-cluster",
			add("aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration", "second",
				map[string]any{"blockPublicSecurityGroupRules": false})},
	}
}

func bucketViolations() []violation {
	policy := func(from, to string) alteration { return edit("BucketPolicy", "storage-data", "policy", from, to) }
	const algorithm = "rules.0.applyServerSideEncryptionByDefault.sseAlgorithm"
	return []violation{
		{"CKV_AWS_19", "storage-data", drop(encrypted, "storage-data")},
		{"CKV_AWS_19", "storage-logs", set(encrypted, "storage-logs", algorithm, "none")},
		{"CKV_AWS_145", "storage-data", set(encrypted, "storage-data", algorithm, "AES256")},
		{"CKV_AWS_145", "storage-data",
			set(encrypted, "storage-data", "rules.0.applyServerSideEncryptionByDefault.kmsMasterKeyId", "alias/aws/s3")},
		{"CKV_AWS_21", "storage-logs", set("BucketVersioningV2", "storage-logs", "versioningConfiguration.status", "Suspended")},
		{"CKV_AWS_18", "storage-data", drop("BucketLoggingV2", "storage-data")},
		{"CKV_AWS_18", "storage-data", set("BucketLoggingV2", "storage-data", "targetBucket", "storage-data-4f2a")},
		{"CKV_AWS_53", "storage-data", set(blocked, "storage-data", "blockPublicAcls", false)},
		{"CKV_AWS_54", "storage-data", set(blocked, "storage-data", "blockPublicPolicy", false)},
		{"CKV_AWS_55", "storage-data", set(blocked, "storage-data", "ignorePublicAcls", nil)},
		{"CKV_AWS_56", "storage-logs", set(blocked, "storage-logs", "restrictPublicBuckets", false)},
		{"CKV2_AWS_6", "storage-logs", drop(blocked, "storage-logs")},
		{"CKV2_AWS_61", "storage-data", drop("BucketLifecycleConfigurationV2", "storage-data")},
		{"CKV_AWS_300", "storage-logs", set("BucketLifecycleConfigurationV2", "storage-logs", "rules.0.abortIncompleteMultipartUpload", nil)},
		{"CKV_AWS_300", "storage-logs", set("BucketLifecycleConfigurationV2", "storage-logs", "rules.0.filter.prefix", "tempo/")},
		{"CKV2_AWS_65", "storage-data", set("BucketOwnershipControls", "storage-data", "rule.objectOwnership", "ObjectWriter")},
		{"CKV_AWS_379", "storage-data", policy(`"aws:SecureTransport"`, `"aws:SourceVpc"`)},
		{"CKV_AWS_379", "storage-logs", drop("BucketPolicy", "storage-logs")},
		{"CKV_AWS_70", "storage-data", policy(`"Sid":"NoOtherKey","Effect":"Deny"`, `"Sid":"NoOtherKey","Effect":"Allow"`)},
		{"CKV_AWS_93", "storage-data", policy(`,"Condition":{"Bool":{"aws:SecureTransport":["false"]}}`, ``)},
		{"observatory/confused-deputy", "storage-logs",
			edit("BucketPolicy", "storage-logs", "policy", "aws:SourceAccount", "aws:PrincipalAccount")},
	}
}

func machineViolations() []violation {
	const instance, name = "Instance", "control-instance"
	return []violation{
		{"CKV_AWS_8", name, set(instance, name, "rootBlockDevice.encrypted", false)},
		{"CKV_AWS_8", name, set(instance, name, "rootBlockDevice.kmsKeyId", nil)},
		{"CKV_AWS_46", name, set(instance, name, "userData", "#cloud-config\npassword: AKIAIOSFODNN7EXAMPLE")},
		{"CKV_AWS_46", name, set(instance, name, "userData", "-----BEGIN EC PRIVATE KEY-----")},
		{"CKV_AWS_46", name, func(t *testing.T, all controls.Resources) controls.Resources {
			find(t, all, instance, name).Secret = map[string]bool{"userData": true}
			return all
		}},
		{"CKV_AWS_79", name, set(instance, name, "metadataOptions.httpTokens", "optional")},
		{"CKV_AWS_126", name, set(instance, name, "monitoring", false)},
		{"CKV_AWS_135", name, set(instance, name, "ebsOptimized", nil)},
		{"CKV2_AWS_41", name, set(instance, name, "iamInstanceProfile", nil)},
		{"CKV2_AWS_41", name, drop("InstanceProfile", "control-profile")},
		{"CKV2_AWS_19", "network-nat", drop("NatGateway", "network-nat")},
		{"CKV2_AWS_19", "control-address", drop("EipAssociation", "control-address")},
		{"CKV2_AWS_19", "control-address", set("EipAssociation", "control-address", "networkInterfaceId", nil)},
		{"CKV_AWS_3", "control-data", set("Volume", "control-data", "encrypted", false)},
		{"CKV_AWS_189", "control-data", set("Volume", "control-data", "kmsKeyId", nil)},
		{"CKV_AWS_7", "storage-key", set("Key", "storage-key", "enableKeyRotation", nil)},
		{"CKV_AWS_33", "storage-key", edit("Key", "storage-key", "policy", "arn:aws:iam::123456789012:root", "*")},
		{"CKV_AWS_33", "storage-key", set("Key", "storage-key", "policy", nil)},
		{"CKV_AWS_337", "control-server-ca-key-parameter", set("Parameter", "control-server-ca-key-parameter", "type", "String")},
		{"CKV_AWS_337", "control-client-ca-key-parameter", set("Parameter", "control-client-ca-key-parameter", "keyId", nil)},
	}
}

func networkViolations() []violation {
	const grafana = "network-control-grafana-from-203.0.113.0_24"
	return []violation{
		{"CKV_AWS_23", "emr-main-core", set("SecurityGroup", "emr-main-core", "description", nil)},
		{"CKV_AWS_23", grafana, set(ingress, grafana, "description", "")},
		{"AWS-0107", grafana, set(ingress, grafana, "cidrIpv4", "0.0.0.0/0")},
		{"AWS-0107", grafana, both(set(ingress, grafana, "cidrIpv4", nil), set(ingress, grafana, "cidrIpv6", "::/0"))},
		{"observatory/ports", grafana, both(set(ingress, grafana, "fromPort", 22.0), set(ingress, grafana, "toPort", 22.0))},
		{"observatory/ports", grafana, set(ingress, grafana, "toPort", 3001.0)},
		{"observatory/ports", grafana, set(ingress, grafana, "ipProtocol", "-1")},
		{"observatory/ports", grafana, set(ingress, grafana, "securityGroupId", "emr-main-core-id")},
		{"observatory/ports", "network-control-otlp-grpc-from-observed",
			set(ingress, "network-control-otlp-grpc-from-observed", "referencedSecurityGroupId", "emr-main-service-access-id")},
		{"CKV_AWS_382", "emr-main-core-https-out", set(egress, "emr-main-core-https-out", "ipProtocol", "-1")},
		{"AWS-0104", "emr-main-core-http-to-s3", set(egress, "emr-main-core-http-to-s3", "cidrIpv4", "0.0.0.0/0")},
		{"CKV2_AWS_5", "stray", add("aws:ec2/securityGroup:SecurityGroup", "stray", map[string]any{"description": "unused"})},
		{"CKV2_AWS_12", "network-vpc", drop("DefaultSecurityGroup", "network-default-group")},
		{"CKV2_AWS_12", "network-vpc", set("DefaultSecurityGroup", "network-default-group", "egress", []any{map[string]any{"protocol": "-1"}})},
		{"CKV2_AWS_11", "network-vpc", drop("FlowLog", "network-flow-log")},
		{"CKV2_AWS_11", "network-vpc", set("FlowLog", "network-flow-log", "trafficType", "REJECT")},
		{"CKV_AWS_130", "network-public-a", set("Subnet", "network-public-a", "mapPublicIpOnLaunch", true)},
	}
}

func identityViolations() []violation {
	service := func(from, to string) alteration { return edit("RolePolicy", "emr-main-service", "policy", from, to) }
	control := func(from, to string) alteration { return edit("RolePolicy", "control-access", "policy", from, to) }
	trust := func(role, from, to string) alteration { return edit("Role", role, "assumeRolePolicy", from, to) }
	return []violation{
		{"CKV_AWS_60", "emr-main-node", trust("emr-main-node", `{"Service":["ec2.amazonaws.com"]}`, `{"AWS":["*"]}`)},
		{"CKV_AWS_60", "control-role", trust("control-role", `{"Service":["ec2.amazonaws.com"]}`, `{"AWS":["arn:aws:iam::123456789012:root"]}`)},
		{"CKV_AWS_60", "control-tools-role", trust("control-tools-role", "aws:PrincipalArn", "aws:PrincipalAccount")},
		{"CKV_AWS_60", "control-tools-role", trust("control-tools-role", "control-role", "another-role")},
		{"observatory/confused-deputy", "emr-main-service", trust("emr-main-service", "aws:SourceAccount", "aws:SourceVpc")},
		{"observatory/confused-deputy", "emr-main-service", trust("emr-main-service", "aws:SourceArn", "aws:SourceVpc")},
		{"observatory/confused-deputy", "emr-main-node", trust("emr-main-node", "ec2.amazonaws.com", "lambda.amazonaws.com")},
		{"CKV_AWS_62", "control-access", control(`"s3:DeleteObject"`, `"s3:*"`)},
		{"CKV_AWS_62", "emr-main-service", service(`"kms:CreateGrant"`, `"*"`)},
		{"CKV_AWS_62", "emr-main-service", service(`"Action":["kms:CreateGrant"]`, `"NotAction":["kms:CreateGrant"]`)},
		{"CKV_AWS_290", "control-access", control(`"ssmmessages:OpenDataChannel"`, `"ssm:GetParameter"`)},
		{"CKV_AWS_290", "control-access", control(`"Condition":{"StringEquals":{"aws:RequestedRegion":["us-east-1"]}}`, `"Condition":{}`)},
		{"observatory/pass-role", "emr-main-service", service("iam:PassedToService", "aws:SourceVpc")},
		{"observatory/pass-role", "emr-main-service",
			service(`"Action":["iam:PassRole"],"Resource":["`, `"Action":["iam:PassRole"],"Resource":["*","`)},
		{"CKV_AWS_274", "emr-main-service",
			set("RolePolicyAttachment", "emr-main-service", "policyArn", "arn:aws:iam::aws:policy/AdministratorAccess")},
		{"CKV_AWS_274", "emr-main-service",
			set("RolePolicyAttachment", "emr-main-service", "policyArn", "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")},
	}
}

func clusterViolations() []violation {
	const grafana, status, tempo, collector = "workloads-grafana", "workloads-status", "workloads-tempo", "workloads-collector"
	const pod, container = "spec.template.spec.", "spec.template.spec.containers.0."
	return []violation{
		{"observatory/grafana-tls", grafana, set("Deployment", grafana, container+"env", []any{})},
		{"observatory/grafana-tls", grafana, func(t *testing.T, all controls.Resources) controls.Resources {
			data, isMap := find(t, all, "Secret", "workloads-grafana-access").At("stringData").(map[string]any)
			require.True(t, isMap)
			require.Contains(t, data, "tls.crt")
			data["tls.crt"] = "another certificate"
			return all
		}},
		{"observatory/grafana-tls", grafana, func(t *testing.T, all controls.Resources) controls.Resources {
			metadata := find(t, all, "Secret", "workloads-grafana-access").At("metadata")
			return add("kubernetes:core/v1:Secret", "second", map[string]any{
				"metadata": metadata, "stringData": map[string]any{"tls.crt": "another certificate"},
			})(t, all)
		}},
		{"observatory/grafana-tls", grafana, set("Deployment", grafana, pod+"volumes", []any{})},
		{"observatory/grafana-tls", grafana, drop("LocallySignedCert", "workloads-grafana-certificate")},
		{"observatory/status-tls", "workloads-tools", set("Deployment", "workloads-tools", container+"args", []any{"tools"})},
		{"observatory/status-tls", "workloads-tools", drop("RandomPassword", "workloads-tools-password")},
		{"observatory/status-tls", status, set("Deployment", status, container+"args", []any{"serve"})},
		{"observatory/status-tls", status, set("Deployment", status, pod+"volumes", []any{})},
		{"observatory/status-tls", status, drop("LocallySignedCert", "workloads-status-certificate")},
		{"observatory/status-tls", status, func(t *testing.T, all controls.Resources) controls.Resources {
			data, isMap := find(t, all, "Secret", "workloads-status-access").At("stringData").(map[string]any)
			require.True(t, isMap)
			data["password"] = "observatory"
			return all
		}},
		{"observatory/grafana-trust", "grafana", edit("grafana", "grafana", "url", "https", "http")},
		{"observatory/grafana-trust", "grafana", set("grafana", "grafana", "caCert", nil)},
		{"observatory/grafana-trust", "grafana", set("grafana", "grafana", "insecureSkipVerify", true)},
		{"observatory/kubernetes-tls", "kubernetes", edit("kubernetes", "kubernetes", "kubeconfig", "https://", "http://")},
		{"observatory/kubernetes-tls", "kubernetes",
			edit("kubernetes", "kubernetes", "kubeconfig", "certificate-authority-data", "tls-server-name")},
		{"observatory/s3-tls", "workloads-cluster-config", set("ConfigMap", "workloads-cluster-config", "data.S3_INSECURE", "true")},
		{"CKV_K8S_16", tempo, set("Deployment", tempo, pod+"hostNetwork", true)},
		{"CKV_K8S_16", tempo, set("Deployment", tempo, pod+"automountServiceAccountToken", nil)},
		{"CKV_K8S_16", tempo, set("Deployment", tempo, pod+"securityContext.runAsNonRoot", false)},
		{"CKV_K8S_16", tempo, set("Deployment", tempo, container+"securityContext.readOnlyRootFilesystem", false)},
		{"CKV_K8S_16", collector,
			set("DaemonSet", collector, pod+"volumes.0", map[string]any{"name": "x", "hostPath": map[string]any{"path": "/"}})},
		{"observatory/host-ports", tempo, set("Deployment", tempo, container+"ports.0.hostPort", 3200.0)},
		{"observatory/host-ports", tempo, set("Service", tempo, "spec.ports.0.nodePort", 3200.0)},
		{"observatory/host-ports", tempo, set("Service", tempo, "spec.type", "LoadBalancer")},
		{"observatory/pod-metadata", collector, drop("NetworkPolicy", "workloads-no-instance-metadata")},
		{"observatory/pod-metadata", collector, set("NetworkPolicy", "workloads-no-instance-metadata", "spec.egress.0.to.0.ipBlock.except", nil)},
		{"observatory/pod-metadata", collector, set("NetworkPolicy", "workloads-no-instance-metadata", "spec.egress.0.to", []any{})},
		{"observatory/pod-metadata", collector, set("NetworkPolicy", "workloads-instance-metadata", "spec.podSelector", map[string]any{})},
		{"observatory/pod-metadata", tempo, drop("NetworkPolicy", "workloads-instance-metadata")},
		{"observatory/pod-metadata", tempo, set("Deployment", tempo, pod+"hostNetwork", true)},
		{"observatory/system-metadata", "workloads-namespace", drop("NetworkPolicy", "workloads-no-instance-metadata-kube-system")},
	}
}

// findings lists the unmet rules as "rule resource".
func findings(verdicts []controls.Verdict) []string {
	var out []string
	for _, f := range controls.Unmet(verdicts) {
		out = append(out, f.Rule+" "+f.Resource)
	}
	return out
}

// TestEveryRuleFindsItsViolation applies one alteration at a time.
func TestEveryRuleFindsItsViolation(t *testing.T) {
	all := resources(t, "dev")
	require.Empty(t, findings(controls.Judge("dev", all)))
	broken := map[string]bool{}
	for _, list := range [][]violation{
		emrViolations(), bucketViolations(), machineViolations(),
		networkViolations(), identityViolations(), clusterViolations(),
	} {
		for _, v := range list {
			broken[v.rule] = true
			t.Run(strings.ReplaceAll(v.rule, "/", "_")+" "+v.resource, func(t *testing.T) {
				require.Contains(t, findings(controls.Judge("dev", alter(t, all, v.alteration))), v.rule+" "+v.resource)
			})
		}
	}
	for _, verdict := range controls.Judge("dev", all) {
		if len(verdict.Met) > 0 {
			require.True(t, broken[verdict.Rule.ID()], "no violation of %s is tested", verdict.Rule.ID())
		}
	}
}

// TestBlockOfPublicAccessIsJudgedWhereAskedFor judges a stack that sets the key, to
// which the stacks' exception does not apply.
func TestBlockOfPublicAccessIsJudgedWhereAskedFor(t *testing.T) {
	const stack, key = "blocking", platform.Project + ":blockPublicAccess"
	values := trial.Values(t, "local")
	values[key], values[platform.Project+":controlNode"] = `true`, `{"access":"vpc"}`
	all := controls.FromRecording(trial.Record(t, "local", recorder.WithConfig(values)))
	require.Empty(t, findings(controls.Judge(stack, all)))
	for _, v := range blockViolations() {
		require.Contains(t, findings(controls.Judge(stack, alter(t, all, v.alteration))), v.rule+" "+v.resource)
	}
}

// TestPublicAddressesAreFound alters a stack whose control node has none, to which the
// stacks' exceptions do not apply.
func TestPublicAddressesAreFound(t *testing.T) {
	const stack, name, association = "private", "control-instance", "aws:ec2/eipAssociation:EipAssociation"
	values := trial.Values(t, "local")
	values[platform.Project+":controlNode"] = `{"access":"vpc"}`
	values[platform.Project+":blockPublicAccess"] = `true`
	all := controls.FromRecording(trial.Record(t, "local", recorder.WithConfig(values)))
	require.Empty(t, findings(controls.Judge(stack, all)))
	for _, a := range []alteration{
		set("Instance", name, "associatePublicIpAddress", true),
		set("Eip", "network-nat", "networkInterface", "control-interface-id"),
		set("Eip", "network-nat", "instance", name+"-id"),
		add(association, "a", map[string]any{"networkInterfaceId": "control-interface-id"}),
		add(association, "a", map[string]any{"instanceId": name + "-id"}),
	} {
		require.Equal(t, []string{"CKV_AWS_88 " + name}, findings(controls.Judge(stack, alter(t, all, a))))
	}
}

// TestUnneededExceptionsAreReported makes a resource of every exception meet its
// rule: the exception must then be reported as unneeded.
func TestUnneededExceptionsAreReported(t *testing.T) {
	all := resources(t, "dev")
	none := map[string]any{}
	met := map[string]alteration{
		"CKV_AWS_390 emr-main-cluster": add("aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration", "b",
			map[string]any{"blockPublicSecurityGroupRules": true}),
		"CKV_AWS_171 emr-main-security": edit(security, "emr-main-security", "configuration",
			`"AtRestEncryptionConfiguration":{`, `"AtRestEncryptionConfiguration":{"S3EncryptionConfiguration":{"EncryptionMode":"SSE-KMS"},`),
		"CKV_AWS_351 emr-main-security": edit(security, "emr-main-security", "configuration",
			`"EnableInTransitEncryption":false`, `"EnableInTransitEncryption":true`),
		"CKV_AWS_341 control-instance":       set("Instance", "control-instance", "metadataOptions.httpPutResponseHopLimit", 1.0),
		"AWS-0104 network-control-https-out": set(egress, "network-control-https-out", "cidrIpv4", "10.0.0.0/16"),
		"CKV_AWS_18 storage-logs": add("aws:s3/bucketLoggingV2:BucketLoggingV2", "l",
			map[string]any{"bucket": "storage-logs-4f2a", "targetBucket": "another"}),
		"CKV_AWS_145 storage-logs": set(encrypted, "storage-logs", "rules.0.applyServerSideEncryptionByDefault",
			map[string]any{"sseAlgorithm": "aws:kms", "kmsMasterKeyId": "arn:aws:mock:us-east-1:123456789012:storage-key"}),
		"CKV2_AWS_62 storage-data": add("aws:s3/bucketNotification:BucketNotification", "n",
			map[string]any{"bucket": "storage-data-4f2a"}),
		"CKV_AWS_144 storage-data": add("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "r",
			map[string]any{"bucket": "storage-data-4f2a"}),
		"CKV2_AWS_9 control-data": add("aws:backup/selection:Selection", "b", none),
		"CKV_AWS_88 control-instance": both(drop("EipAssociation", "control-address"),
			set("Eip", "control-address", "networkInterface", "another")),
	}
	rules := map[string]bool{}
	for key, a := range met {
		rules[strings.Fields(key)[0]] = true
		require.Equal(t, []string{key}, controls.Unneeded("dev", controls.Judge("dev", alter(t, all, a))))
	}
	for _, e := range controls.ExceptionsOf("dev") {
		require.True(t, rules[e.Rule], "no alteration meets %s", e.Rule)
	}
	// The dev stack creates its network and so needs none of the exceptions for an
	// existing one.
	require.Equal(t, []string{
		"EMR.1 emr-main-cluster", "CKV2_AWS_19 aws:ec2/eip:Eip", "CKV2_AWS_12 aws:ec2/vpc:Vpc",
		"CKV2_AWS_11 aws:ec2/vpc:Vpc", "CKV_AWS_130 aws:ec2/subnet:Subnet",
	}, controls.Unneeded("pr", controls.Judge("pr", all)))
}

// TestRuleWithoutResourcesIsAFinding removes the only resource of a rule.
func TestRuleWithoutResourcesIsAFinding(t *testing.T) {
	without := alter(t, resources(t, "dev"), drop("Volume", "control-data"))
	require.Contains(t, findings(controls.Judge("dev", without)), "CKV_AWS_3 aws:ebs/volume:Volume")
}
