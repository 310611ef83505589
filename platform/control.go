package platform

import "strings"

// Paths on the control node. Everything that must survive the instance lies
// below ControlDataDir, the mount point of the data volume.
const (
	ControlDataDir     = "/data"
	ControlK3sDir      = ControlDataDir + "/k3s"     // K3s data-dir: datastore, CAs, images
	ControlVolumesDir  = ControlDataDir + "/volumes" // persistent volumes of the workloads
	ControlIdentityDir = ControlDataDir + "/node"    // the node's K3s password, see ControlNodeDir
	ControlNodeDir     = "/etc/rancher/node"         // where K3s looks for it: a link to ControlIdentityDir
	ControlK3sConfig   = "/etc/rancher/k3s/config.yaml"
	ControlK3sBinary   = "/usr/local/bin/k3s"
	ControlK3sUnit     = "k3s.service"
	ControlBootDir     = "/opt/observatory"
	ControlBootScript  = ControlBootDir + "/boot.sh"
	ControlBootFacts   = ControlBootDir + "/boot.env"
	ControlBootDone    = "/var/lib/observatory/boot-done" // written when the node is up
)

// Ports on which the control node itself answers for its workloads: those of
// NodePort Services lie between the two. The API server's own port is among
// them, so no Service may leave the choice of a port to Kubernetes.
const (
	ControlNodePortFirst = Grafana
	ControlNodePortLast  = Status
)

// ControlTLSDir is where K3s looks for the certificate authorities it is given.
const ControlTLSDir = ControlK3sDir + "/server/tls"

// ControlNodeName is the control node's name in Kubernetes. It is fixed:
// persistent volumes are bound to it and outlive the instance.
const ControlNodeName = "control"

// EBSDevice is the path under which Nitro instances show a volume (EC2 User
// Guide, "NVMe block devices": the volume id, its dash removed, is the serial
// number). The name that was asked for at attachment does not exist there.
func EBSDevice(volumeID string) string {
	return "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.ReplaceAll(volumeID, "-", "")
}
