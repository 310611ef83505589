package outputs

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Names of the stack's outputs.
const (
	Observatory       = platform.Name // the versioned object, see Outputs
	DataBucket        = "dataBucket"
	S3Paths           = "s3Paths"
	KMSKeyARN         = "kmsKeyArn"
	ControlInstanceID = "controlInstanceId"
	ControlVolumeID   = "controlVolumeId"
	ControlPrivateIP  = "controlPrivateIp"
	ControlPublicIP   = "controlPublicIp"
	EMRClusterID      = "emrClusterId"
	EMRMasterDNS      = "emrMasterDns"
	NodeRoleARN       = "nodeRoleArn"
	NodeRoleName      = "nodeRoleName"
	GrafanaURL        = "grafanaUrl"
	StatusURL         = "statusUrl"
	Kubeconfig        = "kubeconfig"      // secret
	GrafanaPassword   = "grafanaPassword" // secret
	StatusPassword    = "statusPassword"  // secret
	CACertificate     = "caCertificate"
)

// Keys of the versioned object beyond the flat outputs.
const (
	schemaVersion = "schemaVersion"
	bootstrap     = "bootstrap"
	dashboards    = "dashboards"
	endpoints     = "endpoints"
	network       = "network"
)

// SchemaVersion is the version of the object. It is incremented when a key is
// renamed, removed or changes its meaning, but not for a new key.
const SchemaVersion = 1

// Outputs is the versioned object, without secrets.
type Outputs struct {
	SchemaVersion     int               `json:"schemaVersion" help:"Version of this object."`
	DataBucket        string            `json:"dataBucket" help:"Name of the data bucket."`
	S3Paths           platform.S3Paths  `json:"s3Paths" help:"Where the data bucket holds what, as s3:// URIs."`
	KMSKeyARN         string            `json:"kmsKeyArn" help:"Key that encrypts the data bucket; a reader needs kms:Decrypt on it."`
	Network           Network           `json:"network" help:"Where another EMR cluster has to run so that its nodes reach the control node."`
	ControlInstanceID string            `json:"controlInstanceId" help:"EC2 instance of the telemetry servers."`
	ControlVolumeID   string            `json:"controlVolumeId" help:"Its data volume: metrics, logs and the Kubernetes objects."`
	ControlPrivateIP  string            `json:"controlPrivateIp" help:"Its fixed private address; OTLP on port 4317."`
	ControlPublicIP   string            `json:"controlPublicIp" help:"Its Elastic IP; empty unless controlNode.access is public."`
	Bootstrap         Bootstrap         `json:"bootstrap" help:"Bootstrap action that makes any EMR cluster of this VPC observable."`
	EMRClusterID      string            `json:"emrClusterId" help:"EMR cluster."`
	EMRMasterDNS      string            `json:"emrMasterDns" help:"Private DNS name of the primary node."`
	NodeRoleARN       string            `json:"nodeRoleArn" help:"Role of the nodes and their jobs; bucket policies elsewhere name it."`
	NodeRoleName      string            `json:"nodeRoleName" help:"Its name: attach policies here for what jobs need beyond the lake."`
	GrafanaURL        string            `json:"grafanaUrl" help:"Grafana, from the operators' networks."`
	Dashboards        map[string]string `json:"dashboards" help:"Dashboard slug to its URL."`
	StatusURL         string            `json:"statusUrl" help:"The platform's status page."`
	CACertificate     string            `json:"caCertificate" help:"PEM certificates that clients of Grafana and the status page trust."`
	Endpoints         map[string]string `json:"endpoints" help:"Workload to its URL inside the control node's cluster."`
}

// Bootstrap is the bootstrap action as EMR takes it.
type Bootstrap struct {
	Path string   `json:"path" help:"s3:// URI of the script."`
	Args []string `json:"args" help:"Its arguments; the hash is among them."`
	Hash string   `json:"hash" help:"sha256 of all that it installs."`
}

// Network holds what is needed to start a cluster besides the stack's own.
type Network struct {
	VPCID                        string   `json:"vpcId" help:"The VPC."`
	SubnetIDs                    []string `json:"subnetIds" help:"Its private subnets."`
	MasterSecurityGroupID        string   `json:"masterSecurityGroupId" help:"EMR-managed group of primary nodes."`
	CoreSecurityGroupID          string   `json:"coreSecurityGroupId" help:"EMR-managed group of core and task nodes."`
	ServiceAccessSecurityGroupID string   `json:"serviceAccessSecurityGroupId" help:"EMR's service access group."`
}

// Secrets are the outputs that Outputs leaves out.
type Secrets struct {
	Kubeconfig      string
	GrafanaPassword string
	StatusPassword  string
}

// String hides the values, so that no format verb shows them by accident.
func (Secrets) String() string { return "[secret]" }

// GoString does the same for %#v.
func (Secrets) GoString() string { return "[secret]" }

// Values are the outputs while the program runs.
type Values struct {
	DataBucket, KMSKeyARN              pulumi.StringInput
	ControlInstanceID, ControlVolumeID pulumi.StringInput
	ControlPrivateIP                   pulumi.StringInput
	ControlPublicIP                    pulumi.StringInput // "" = none
	VPCID, MasterSecurityGroupID       pulumi.StringInput
	CoreSecurityGroupID                pulumi.StringInput
	ServiceAccessSecurityGroupID       pulumi.StringInput
	SubnetIDs                          pulumi.StringArrayInput
	EMRClusterID, EMRMasterDNS         pulumi.StringInput
	NodeRoleARN, NodeRoleName          pulumi.StringInput
	GrafanaURL, StatusURL              pulumi.StringInput
	CACertificate                      pulumi.StringInput
	BootstrapPath, BootstrapHash       pulumi.StringInput
	BootstrapArgs                      pulumi.StringArrayInput
	S3Paths, Dashboards, Endpoints     pulumi.StringMapInput
	Kubeconfig                         pulumi.StringInput // made secret here, whatever it was, as both passwords
	GrafanaPassword, StatusPassword    pulumi.StringInput
}

// Export declares the stack's outputs.
func Export(ctx *pulumi.Context, v Values) {
	flat := pulumi.Map{
		DataBucket:        v.DataBucket,
		S3Paths:           v.S3Paths,
		KMSKeyARN:         v.KMSKeyARN,
		ControlInstanceID: v.ControlInstanceID,
		ControlVolumeID:   v.ControlVolumeID,
		ControlPrivateIP:  v.ControlPrivateIP,
		ControlPublicIP:   v.ControlPublicIP,
		EMRClusterID:      v.EMRClusterID,
		EMRMasterDNS:      v.EMRMasterDNS,
		NodeRoleARN:       v.NodeRoleARN,
		NodeRoleName:      v.NodeRoleName,
		GrafanaURL:        v.GrafanaURL,
		StatusURL:         v.StatusURL,
		CACertificate:     v.CACertificate,
	}
	object := pulumi.Map{
		schemaVersion: pulumi.Int(SchemaVersion),
		bootstrap:     pulumi.Map{"path": v.BootstrapPath, "args": v.BootstrapArgs, "hash": v.BootstrapHash},
		dashboards:    v.Dashboards,
		endpoints:     v.Endpoints,
		network: pulumi.Map{
			"vpcId": v.VPCID, "subnetIds": v.SubnetIDs, "masterSecurityGroupId": v.MasterSecurityGroupID,
			"coreSecurityGroupId": v.CoreSecurityGroupID, "serviceAccessSecurityGroupId": v.ServiceAccessSecurityGroupID,
		},
	}
	for name, value := range flat {
		ctx.Export(name, value)
		object[name] = value
	}
	ctx.Export(Observatory, object)
	ctx.Export(Kubeconfig, pulumi.ToSecret(v.Kubeconfig))
	ctx.Export(GrafanaPassword, pulumi.ToSecret(v.GrafanaPassword))
	ctx.Export(StatusPassword, pulumi.ToSecret(v.StatusPassword))
}
