package controls

import "encoding/json"

// Types of EMR.
const (
	typeCluster     = "aws:emr/cluster:Cluster"
	typeSecurity    = "aws:emr/securityConfiguration:SecurityConfiguration"
	typeBlockPublic = "aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration"
)

func emrRules() []Rule {
	cluster, security := []string{typeCluster}, []string{typeSecurity}
	const atRest = "EncryptionConfiguration.AtRestEncryptionConfiguration."
	return []Rule{
		{IDs: []string{"CKV2_AWS_55", "48af92a5-c89b-4936-bc62-1086fe2bab23"}, Wants: "The cluster has a security configuration", Types: cluster, Check: hasSecurityConfiguration},
		{IDs: []string{"CKV_AWS_171", "CT.EMR.PR.1", "CT.EMR.PR.2"}, Wants: "What the cluster writes to S3 is encrypted with a KMS key", Types: security,
			Check: inSecurity(atRest+"S3EncryptionConfiguration.EncryptionMode", "SSE-KMS")},
		{IDs: []string{"CKV_AWS_349", "AWS-0137", "EMR.3"}, Wants: "Encryption at rest is on", Types: security, Check: inSecurity("EncryptionConfiguration.EnableAtRestEncryption", true)},
		{IDs: []string{"AWS-0139", "CT.EMR.PR.3"}, Wants: "Local disks are encrypted with a KMS key", Types: security,
			Check: inSecurity(atRest+"LocalDiskEncryptionConfiguration.EncryptionKeyProviderType", "AwsKms")},
		{IDs: []string{"CKV_AWS_350"}, Wants: "EBS volumes of the nodes are encrypted", Types: security,
			Check: inSecurity(atRest+"LocalDiskEncryptionConfiguration.EnableEbsEncryption", true)},
		{IDs: []string{"CKV_AWS_351", "AWS-0138", "EMR.4", "CT.EMR.PR.4"}, Wants: "Encryption in transit is on", Types: security,
			Check: inSecurity("EncryptionConfiguration.EnableInTransitEncryption", true)},
		{IDs: []string{"observatory/emr-imds"}, Wants: "The nodes' metadata service speaks IMDSv2 over one hop", Types: security, Check: nodeMetadata},
		{IDs: []string{"CKV_AWS_114"}, Wants: "Kerberos, where it is used, has a realm", Types: cluster, Check: kerberosRealm},
		{IDs: []string{"CKV_AWS_390", "EMR.2", "emr-block-public-access", "emr_cluster_account_public_block_enabled"},
			Wants: "The account lets no cluster be public but on port 22", Types: cluster, Check: accountBlocksPublic},
		{IDs: []string{"EMR.1", "emr-master-no-public-ip", "emr_cluster_master_nodes_no_public_ip"},
			Wants: "The nodes are in a private subnet and get no public address", Types: cluster, Check: inPrivateSubnet},
		{IDs: []string{"emr_cluster_publicly_accesible"}, Wants: "No rule of the nodes' security groups admits an address range", Types: cluster, Check: nodesAdmitGroupsOnly},
	}
}

func hasSecurityConfiguration(r Resource, all Resources) Judgement {
	s, found := all.output(typeSecurity, "name", r.At("securityConfiguration"))
	if !found {
		return unmet("securityConfiguration %v is none of the program's", r.At("securityConfiguration"))
	}
	return met(s)
}

// inSecurity wants one value in the security configuration's document.
func inSecurity(path string, want any) Check {
	return func(r Resource, _ Resources) Judgement {
		var doc map[string]any
		if err := json.Unmarshal([]byte(r.Text("configuration")), &doc); err != nil {
			return unmet("configuration is no JSON: %v", err)
		}
		if got := at(doc, path); got != want {
			return unmet("%s is %v, not %v", path, got, want)
		}
		return met()
	}
}

func nodeMetadata(r Resource, all Resources) Judgement {
	const at = "InstanceMetadataServiceConfiguration."
	for path, want := range map[string]any{at + "MinimumInstanceMetadataServiceVersion": 2.0, at + "HttpPutResponseHopLimit": 1.0} {
		if j := inSecurity(path, want)(r, all); j.Fault != "" {
			return j
		}
	}
	return met()
}

func kerberosRealm(r Resource, _ Resources) Judgement {
	if r.At("kerberosAttributes") != nil && r.Text("kerberosAttributes.realm") == "" {
		return unmet("kerberosAttributes has no realm")
	}
	return met()
}

func accountBlocksPublic(_ Resource, all Resources) Judgement {
	for _, b := range all.OfType(typeBlockPublic) {
		if b.At("blockPublicSecurityGroupRules") != true {
			return unmet("%s lets clusters be public", b.Name)
		}
		for _, permitted := range b.List("permittedPublicSecurityGroupRuleRanges") {
			if at(permitted, "minRange") != 22.0 || at(permitted, "maxRange") != 22.0 {
				return unmet("%s permits ports %v", b.Name, permitted)
			}
		}
		return met(b)
	}
	return unmet("nothing declares the account's block of public clusters")
}

func inPrivateSubnet(r Resource, all Resources) Judgement {
	subnet, found := all.byID(typeSubnet, r.At("ec2Attributes.subnetId"))
	if !found {
		return unmet("ec2Attributes.subnetId %v is no subnet of the program", r.At("ec2Attributes.subnetId"))
	}
	if subnet.At("mapPublicIpOnLaunch") != false {
		return unmet("subnet %s gives public addresses", subnet.Name)
	}
	tied := all.With(typeRouteAssociation, "subnetId", subnet.ID)
	if len(tied) == 0 {
		return unmet("subnet %s has no route table of its own", subnet.Name)
	}
	for _, association := range tied {
		for _, route := range all.With(typeRoute, "routeTableId", association.At("routeTableId")) {
			if route.At("gatewayId") != nil {
				return unmet("subnet %s is public: route %s leads to an internet gateway", subnet.Name, route.Name)
			}
		}
	}
	return met(subnet)
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

// nodeGroups are the ids of the security groups that a cluster's nodes and
// EMR's access to them are in.
func nodeGroups(cluster Resource) map[any]string {
	return map[any]string{
		cluster.At("ec2Attributes.emrManagedMasterSecurityGroup"): nodes,
		cluster.At("ec2Attributes.emrManagedSlaveSecurityGroup"):  nodes,
		cluster.At("ec2Attributes.serviceAccessSecurityGroup"):    serviceAccess,
	}
}
