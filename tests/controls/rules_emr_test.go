package controls

import (
	"encoding/json"
	"strings"
)

// Resource types of EMR.
const (
	typeCluster     = "aws:emr/cluster:Cluster"
	typeSecurity    = "aws:emr/securityConfiguration:SecurityConfiguration"
	typeBlockPublic = "aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration"
)

func emrRules() []Rule {
	cluster, security := []string{typeCluster}, []string{typeSecurity}
	const atRest = "EncryptionConfiguration.AtRestEncryptionConfiguration."
	return []Rule{
		{IDs: []string{"CKV2_AWS_55", "48af92a5-c89b-4936-bc62-1086fe2bab23"}, Requires: "The cluster has a security configuration",
			Types: cluster, Check: hasSecurityConfiguration},
		{IDs: []string{"CKV_AWS_171", "CT.EMR.PR.1", "CT.EMR.PR.2"},
			Requires: "The cluster encrypts what it writes to S3, to any bucket, with one KMS key",
			Types:    security, Check: securityEquals(atRest+"S3EncryptionConfiguration.EncryptionMode", "SSE-KMS")},
		{IDs: []string{"CKV_AWS_349", "AWS-0137", "EMR.3"}, Requires: "Encryption at rest is on",
			Types: security, Check: securityEquals("EncryptionConfiguration.EnableAtRestEncryption", true)},
		{IDs: []string{"AWS-0139", "CT.EMR.PR.3"}, Requires: "Local disks are encrypted with a KMS key", Types: security,
			Check: securityEquals(atRest+"LocalDiskEncryptionConfiguration.EncryptionKeyProviderType", "AwsKms")},
		{IDs: []string{"CKV_AWS_350"}, Requires: "EBS volumes of the nodes are encrypted", Types: security,
			Check: securityEquals(atRest+"LocalDiskEncryptionConfiguration.EnableEbsEncryption", true)},
		{IDs: []string{"CKV_AWS_351", "AWS-0138", "EMR.4", "CT.EMR.PR.4"}, Requires: "Encryption in transit is on", Types: security,
			Check: securityEquals("EncryptionConfiguration.EnableInTransitEncryption", true)},
		{IDs: []string{"observatory/emr-imds"}, Requires: "The nodes' metadata service requires IMDSv2 and allows one hop",
			Types: security, Check: requiresIMDSv2},
		{IDs: []string{"CKV_AWS_114"}, Requires: "Kerberos, if configured, has a realm", Types: cluster, Check: hasKerberosRealm},
		{IDs: []string{"CKV_AWS_390", "EMR.2", "emr-block-public-access", "emr_cluster_account_public_block_enabled"},
			Requires: "The account blocks public clusters, except for port 22", Types: cluster, Check: accountBlocksPublicClusters},
		{IDs: []string{"EMR.1", "emr-master-no-public-ip", "emr_cluster_master_nodes_no_public_ip"},
			Requires: "The nodes are in a private subnet and get no public address", Types: cluster, Check: inPrivateSubnets},
		{IDs: []string{"emr_cluster_publicly_accesible"}, Requires: "No rule of the nodes' security groups admits an address range",
			Types: cluster, Check: nodesAdmitGroupsOnly},
	}
}

func hasSecurityConfiguration(r Resource, all Resources) Judgement {
	s, found := all.output(typeSecurity, "name", r.At("securityConfiguration"))
	if !found {
		return unmet("securityConfiguration %v is not created by this program", r.At("securityConfiguration"))
	}
	return met(s)
}

// securityEquals requires a value in the security configuration's document.
func securityEquals(path string, want any) Check {
	return func(r Resource, _ Resources) Judgement {
		var doc map[string]any
		if err := json.Unmarshal([]byte(r.Text("configuration")), &doc); err != nil {
			return unmet("configuration is not JSON: %v", err)
		}
		if got := valueAt(doc, path); got != want {
			return unmet("%s is %v, not %v", path, got, want)
		}
		return met()
	}
}

func requiresIMDSv2(r Resource, all Resources) Judgement {
	const imds = "InstanceMetadataServiceConfiguration."
	for path, want := range map[string]any{imds + "MinimumInstanceMetadataServiceVersion": 2.0, imds + "HttpPutResponseHopLimit": 1.0} {
		if j := securityEquals(path, want)(r, all); j.Violation != "" {
			return j
		}
	}
	return met()
}

func hasKerberosRealm(r Resource, _ Resources) Judgement {
	if r.At("kerberosAttributes") != nil && r.Text("kerberosAttributes.realm") == "" {
		return unmet("kerberosAttributes has no realm")
	}
	return met()
}

func accountBlocksPublicClusters(_ Resource, all Resources) Judgement {
	blocks := all.OfType(typeBlockPublic)
	if len(blocks) == 0 {
		return unmet("no resource blocks public clusters in the account")
	}
	for _, b := range blocks {
		if b.At("blockPublicSecurityGroupRules") != true {
			return unmet("%s does not block public clusters", b.Name)
		}
		for _, permitted := range b.List("permittedPublicSecurityGroupRuleRanges") {
			if valueAt(permitted, "minRange") != 22.0 || valueAt(permitted, "maxRange") != 22.0 {
				return unmet("%s permits ports %v", b.Name, permitted)
			}
		}
	}
	return met(blocks...)
}

// inPrivateSubnets judges each subnet that EMR may choose: instance fleets name several.
func inPrivateSubnets(r Resource, all Resources) Judgement {
	ids := r.List("ec2Attributes.subnetIds")
	if id := r.At("ec2Attributes.subnetId"); id != nil {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return unmet("ec2Attributes names no subnet")
	}
	var judged []Resource
	for _, id := range ids {
		subnet, found := all.byID(typeSubnet, id)
		if !found {
			return unmet("ec2Attributes: %v is not a subnet of this program", id)
		}
		if j := isPrivate(subnet, all); j.Violation != "" {
			return j
		}
		judged = append(judged, subnet)
	}
	return met(judged...)
}

func isPrivate(subnet Resource, all Resources) Judgement {
	if subnet.At("mapPublicIpOnLaunch") != false {
		return unmet("subnet %s assigns public addresses", subnet.Name)
	}
	associations := all.With(typeRouteAssociation, "subnetId", subnet.ID)
	if len(associations) == 0 {
		return unmet("subnet %s has no route table of its own", subnet.Name)
	}
	for _, association := range associations {
		for _, route := range all.With(typeRoute, "routeTableId", association.At("routeTableId")) {
			if route.At("gatewayId") != nil {
				return unmet("subnet %s is public: route %s leads to an internet gateway", subnet.Name, route.Name)
			}
		}
	}
	return met()
}

func nodesAdmitGroupsOnly(r Resource, all Resources) Judgement {
	for id := range nodeGroups(r) {
		for _, rule := range all.With(typeIngress, "securityGroupId", id) {
			if rule.At("referencedSecurityGroupId") == nil {
				return unmet("%s admits %v%v", rule.Name, rule.Text("cidrIpv4"), rule.Text("cidrIpv6"))
			}
		}
	}
	return met()
}

// nodeGroups maps the ids of a cluster's security groups to the part of the platform
// that uses them. The provider takes additional groups joined by commas.
func nodeGroups(cluster Resource) map[any]string {
	groups := map[any]string{
		cluster.At("ec2Attributes.emrManagedMasterSecurityGroup"): nodes,
		cluster.At("ec2Attributes.emrManagedSlaveSecurityGroup"):  nodes,
		cluster.At("ec2Attributes.serviceAccessSecurityGroup"):    serviceAccess,
	}
	for _, additional := range []string{"additionalMasterSecurityGroups", "additionalSlaveSecurityGroups"} {
		for _, id := range strings.Split(cluster.Text("ec2Attributes."+additional), ",") {
			groups[id] = observed
		}
	}
	return groups
}
