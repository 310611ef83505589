package platform

import "strings"

// Paths on the control node. Everything that must survive the instance is below
// ControlDataDir, the mount point of the data volume.
const (
	ControlDataDir     = "/data"
	ControlK3sDir      = ControlDataDir + "/k3s"     // K3s data-dir: datastore, CAs, images
	ControlVolumesDir  = ControlDataDir + "/volumes" // persistent volumes of the workloads
	ControlIdentityDir = ControlDataDir + "/node"    // the node's K3s password, see ControlNodeDir
	ControlNodeDir     = "/etc/rancher/node"         // where K3s looks for it: a link to ControlIdentityDir
	ControlK3sConfig   = "/etc/rancher/k3s/config.yaml"
	ControlRegistries  = "/etc/rancher/k3s/registries.yaml"
	ControlK3sBinary   = "/usr/local/bin/k3s"
	ControlK3sUnit     = "k3s.service"
	ControlBootDir     = "/opt/observatory"
	ControlBootScript  = ControlBootDir + "/boot.sh"
	ControlBootFacts   = ControlBootDir + "/boot.env"
	ControlBootUnit    = "observatory-boot.service"
	ControlBootDone    = "/var/lib/observatory/boot-done" // written when the node is up
)

// Range of the NodePort Services' ports, which the control node itself serves. The
// API server's port is within the range, so every Service must name its node port.
const (
	ControlNodePortFirst = Grafana
	ControlNodePortLast  = Status
)

// ControlTLSDir is where K3s looks for its certificate authorities.
const ControlTLSDir = ControlK3sDir + "/server/tls"

// ControlNodeName is the control node's name in Kubernetes. It must not change:
// persistent volumes are bound to it and outlive the instance.
const ControlNodeName = "control"

// ControlComponent is the logical name of the control node's component: the Name tags of
// its instance and volumes begin with it and a hyphen.
const ControlComponent = "control"

// EBSDevice returns the path of a volume on Nitro instances (EC2 User Guide, "NVMe
// block devices": the serial number is the volume id without its dash). The device
// name of the attachment does not exist there.
func EBSDevice(volumeID string) string {
	return "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.ReplaceAll(volumeID, "-", "")
}
