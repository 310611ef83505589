package emr

import (
	"github.com/emr-observatory/emr-observatory/components/internal/securitygroup"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The EMR-managed security groups, by the last part of their name. Each cluster has
// its own: YARN and HDFS have no authentication, so anyone in a group can run and read
// everything.
const (
	groupMaster        = "master"
	groupCore          = "core" // core and task nodes
	groupServiceAccess = "service-access"
)

// createSecurityGroups creates the cluster's groups.
func (b *builder) createSecurityGroups() (map[string]*securitygroup.Group, error) {
	return securitygroup.Create(b.Builder, securitygroup.Groups{
		VPCID: b.args.VPCID, S3PrefixList: b.args.S3PrefixListID,
		// EC2 never changes a group's description: an edit here replaces the group.
		Descriptions: map[string]string{
			groupMaster:        "EMR primary nodes (EMR-managed)",
			groupCore:          "EMR core and task nodes (EMR-managed)",
			groupServiceAccess: "EMR service access to nodes in private subnets",
		},
		Tags:  b.tags(),
		Rules: clusterRules(b.args.DNSServers),
	})
}

// clusterRules are EMR's (Management Guide, "Working with Amazon EMR-managed security
// groups", private subnets). EMR would add them itself, but then no destroy would
// remove them. All traffic between the nodes of a cluster is allowed: YARN, HDFS and
// Spark use ephemeral ports.
func clusterRules(dnsServers []string) []securitygroup.Rule {
	var out []securitygroup.Rule
	for _, from := range []string{groupMaster, groupCore} {
		for _, to := range []string{groupMaster, groupCore} {
			out = append(out, securitygroup.AllTraffic(from, to, "Inside the cluster")...)
		}
		out = append(out, securitygroup.Outbound(from, dnsServers)...)
	}
	return append(out, serviceAccessRules()...)
}

// serviceAccessRules let EMR's service reach its nodes, and the primary nodes the
// service.
func serviceAccessRules() []securitygroup.Rule {
	const toService, toNodes = "EMR primary node to the EMR service", "EMR service to its nodes"
	back, nodes := int(platform.EMRServiceAccess), int(platform.EMRServiceSlave)
	out := []securitygroup.Rule{
		securitygroup.TCP("service-access-from-master", groupServiceAccess, back, toService).Between(groupMaster),
		securitygroup.TCP("master-to-service-access", groupMaster, back, toService).Toward().Between(groupServiceAccess),
	}
	for _, g := range []string{groupMaster, groupCore} {
		out = append(out,
			securitygroup.TCP(g+"-from-service-access", g, nodes, toNodes).Between(groupServiceAccess),
			securitygroup.TCP("service-access-to-"+g, groupServiceAccess, nodes, toNodes).Toward().Between(g),
		)
	}
	return out
}
