package schema

import (
	"fmt"
	"net/netip"
	"regexp"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// ControlNode describes the EC2 instance of the telemetry servers.
type ControlNode struct {
	InstanceType  string `json:"instanceType" rule:"instanceType"`
	Arch          string `json:"arch" rule:"arch"`
	PrivateIP     string `json:"privateIp" rule:"privateIp"`
	AMI           string `json:"ami" rule:"image"`
	DataVolumeGiB int    `json:"dataVolumeGiB" rule:"dataVolume"`
	Access        string `json:"access" rule:"access"`
	APIURL        string `json:"apiUrl" rule:"tunnelEnd"`

	RegistryMirror   string `json:"registryMirror" rule:"registryHost"`
	K3sURL           string `json:"k3sUrl" rule:"k3sUrl"`
	GrafanaPluginURL string `json:"grafanaPluginUrl" rule:"pluginUrl"`

	Certificate *Certificate `json:"certificate"` // nil = the stack's own CA signs one
}

// Help describes the keys, for documents.
func (ControlNode) Help() map[string]string {
	return map[string]string{
		"instanceType": "EC2 instance type.",
		"arch":         "Processor architecture of instanceType.",
		"privateIp":    "Fixed private address. Empty: the subnet assigns one, which then stays.",
		"ami": "Image of the instance: Amazon Linux 2023 of that architecture, in this region. Empty: the newest when the stack is " +
			"created, which then stays. Another image replaces the instance; the data volume and the addresses stay.",
		"dataVolumeGiB": "Size of the data volume (metrics, logs, write-ahead logs), in GiB. It may grow, never shrink; the " +
			"file system grows when the control node boots next.",
		"access": "How operators and `pulumi up` reach the control node. public: at an Elastic IP, from operatorCidrs. vpc: at its " +
			"private address, from a machine with a route to it. tunnel: at ports of the machine that runs the program, which " +
			"`observatory tunnel` forwards.",
		"certificate": "Certificate of Grafana and the status page for a domain of your own. Absent: the stack's own CA signs one for the " +
			"control node's addresses.",
		"apiUrl": "With access tunnel, the local end of the tunnel to the Kubernetes API: https://127.0.0.1:6443.",
		"registryMirror": "Host from which all container images come, each below a folder with its registry's name: docker.io/grafana/grafana " +
			"as HOST/docker.io/grafana/grafana. Empty: from their own registries.",
		"k3sUrl": "Copy of " + platform.K3sReleases + ", from which K3s comes; its sha256 is checked all the same. Empty: from GitHub. " +
			"Changing it or registryMirror replaces the instance.",
		"grafanaPluginUrl": "Copy of the zip file of Grafana's plugin victoriametrics-logs-datasource. Empty: from grafana.com.",
	}
}

// SetDefaults sets the values of a small node.
func (c *ControlNode) SetDefaults() {
	*c = ControlNode{InstanceType: defaultInstanceType, Arch: platform.ArchAMD64, DataVolumeGiB: 100, Access: AccessVPC}
}

const defaultInstanceType = "m5.xlarge"

func controlNodeRules() map[string]Rule {
	volume := intRange(platform.MinDataVolumeGiB, platform.MaxDataVolumeGiB)
	return map[string]Rule{
		"instanceType": pattern(`^[a-z][a-z0-9-]*\d[a-z0-9-]*\.(nano|micro|small|medium|large|\d*xlarge|metal(-\d+xl)?)$`,
			"an EC2 instance type such as "+defaultInstanceType),
		"arch": oneOf(platform.Architectures()...).with(", the architecture of the instance type", ""),
		"privateIp": predicate(isPrivateAddress, "a private IPv4 address inside the control node's subnet, none that EC2 reserves").optional().
			with("", "choose a free address of the first private subnet, or of the public one with access public, or leave it empty"),
		// EC2 User Guide, "Resource IDs": 8 or 17 hexadecimal digits.
		"image": pattern(`^ami-[0-9a-f]{8}([0-9a-f]{9})?$`, "the id of an image such as ami-0123456789abcdef0").optional().
			with("", "leave it empty for Amazon Linux 2023"),
		"dataVolume": volume.with(fmt.Sprintf("; the stores leave %d of it free", platform.StoreReserveGiB()), ""),
	}
}

// Validate adds the node's violations to l.
func (c ControlNode) Validate(l *violation.List, path string) {
	checkFields(l, path, c)
	c.checkSources(l, path)
	c.Certificate.Validate(l, path+".certificate", time.Now())
	if rules["instanceType"].Holds(c.InstanceType) {
		// On Xen no device has the name of platform.EBSDevice, and the node would wait for its
		// data volume in vain.
		l.Require(facts.OnNitro(c.InstanceType), path+".instanceType", c.InstanceType,
			"must be built on the Nitro System, where a volume is found by its id", "use a newer family, such as "+defaultInstanceType)
		l.Require(!small.MatchString(c.InstanceType), path+".instanceType", c.InstanceType,
			fmt.Sprintf("must have at least 4 GiB of memory: the workloads request %d MiB", platform.RequestedMemoryMiB()),
			"use a larger size, such as "+defaultInstanceType)
	}
	if rules["instanceType"].Holds(c.InstanceType) && rules["arch"].Holds(c.Arch) {
		l.Require(c.Arch == Arch(c.InstanceType), path+".arch", c.Arch, rules["arch"].Text,
			fmt.Sprintf("set %s.arch to %s for %s", path, Arch(c.InstanceType), c.InstanceType))
	}
}

// small matches the types of 2 GiB or less (EC2 instance types, "General purpose" and
// "Compute optimized"), on which Kubernetes could not schedule every workload.
var small = regexp.MustCompile(`\.(?:nano|micro|small)$|^(?:a1|c\d+g[a-z]*)\.medium$`)

func isPrivateAddress(s string) bool {
	ip, err := netip.ParseAddr(s)
	return err == nil && ip.Is4() && ip.IsPrivate()
}
