package outputs

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe"
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
	Clusters          = "clusters"
	Schedules         = "schedules"
	Athena            = "athena"
	Cost              = "cost"
	Observe           = "observe"
	GrafanaURL        = "grafanaUrl"
	StatusURL         = "statusUrl"
	ToolsURL          = "toolsUrl"
	Kubeconfig        = "kubeconfig"      // secret
	GrafanaPassword   = "grafanaPassword" // secret
	StatusPassword    = "statusPassword"  // secret
	ToolsToken        = "toolsToken"      // secret
	CACertificate     = "caCertificate"
)

// Keys of the versioned object beyond the flat outputs.
const (
	schemaVersion = "schemaVersion"
	dashboards    = "dashboards"
	endpoints     = "endpoints"
	network       = "network"
)

// SchemaVersion is the version of the object. It is incremented when a key is
// renamed, removed or changes its meaning, but not for a new key.
const SchemaVersion = 2

// Outputs is the versioned object, without secrets.
type Outputs struct {
	SchemaVersion     int                `json:"schemaVersion" help:"Version of this object."`
	DataBucket        string             `json:"dataBucket" help:"Name of the data bucket."`
	S3Paths           platform.S3Paths   `json:"s3Paths" help:"Where the data bucket holds what, as s3:// URIs."`
	KMSKeyARN         string             `json:"kmsKeyArn" help:"Key that encrypts the data bucket; a reader needs kms:Decrypt on it."`
	Network           Network            `json:"network" help:"Where an EMR cluster has to run so that its nodes reach the control node."`
	ControlInstanceID string             `json:"controlInstanceId" help:"EC2 instance of the telemetry servers."`
	ControlVolumeID   string             `json:"controlVolumeId" help:"Its data volume: metrics, logs and the Kubernetes objects."`
	ControlPrivateIP  string             `json:"controlPrivateIp" help:"Its fixed private address; OTLP on port 4317."`
	ControlPublicIP   string             `json:"controlPublicIp" help:"Its Elastic IP; empty unless controlNode.access is public."`
	Clusters          map[string]Cluster `json:"clusters" help:"The stack's EMR clusters, by their key in the configuration."`
	Schedules         ScheduleSettings   `json:"schedules" optional:"true" help:"What starts steps by the clock."`
	Athena            AthenaSettings     `json:"athena" optional:"true" help:"Where Athena finds the Spark history."`
	Cost              Costs              `json:"cost" optional:"true" help:"What the stack costs by the estimate of the preview."`
	Observe           observe.Settings   `json:"observe" help:"What a cluster that others start needs so that the platform observes it."`
	GrafanaURL        string             `json:"grafanaUrl" help:"Grafana, from the operators' networks."`
	Dashboards        map[string]string  `json:"dashboards" help:"Dashboard slug to its URL."`
	StatusURL         string             `json:"statusUrl" help:"The platform's status page."`
	ToolsURL          string             `json:"toolsUrl" optional:"true" help:"The tools for agents (MCP); empty without the profiler."`
	CACertificate     string             `json:"caCertificate" help:"PEM certificates that clients of Grafana, status and tools trust."`
	Endpoints         map[string]string  `json:"endpoints" help:"Workload to its URL inside the control node's cluster."`
}

// ScheduleSettings say where the schedules are. Their next runs are on the status page: here they would
// be those of the last update.
type ScheduleSettings struct {
	GroupName        string `json:"groupName" help:"Group of the schedules in EventBridge, which have the names of their keys; or empty."`
	LostRunsQueueURL string `json:"lostRunsQueueUrl" help:"SQS queue of the runs that did not start; or empty."`
}

// ScheduleValues are ScheduleSettings while the program runs.
type ScheduleValues struct{ GroupName, LostRunsQueueURL pulumi.StringInput }

func (s ScheduleValues) object() pulumi.Map {
	return pulumi.Map{"groupName": s.GroupName, "lostRunsQueueUrl": s.LostRunsQueueURL}
}

// AthenaSettings say how to query the history in Athena.
type AthenaSettings struct {
	Database   string `json:"database" help:"Database of the tables in Glue; empty without profiler.athena."`
	Workgroup  string `json:"workgroup" help:"Workgroup for queries, with a limit on what they scan; empty without profiler.athena."`
	ReadPolicy string `json:"readPolicy" help:"JSON of an IAM policy for users who query the history; empty without profiler.athena."`
}

// AthenaValues are AthenaSettings while the program runs.
type AthenaValues struct{ Database, Workgroup, ReadPolicy pulumi.StringInput }

func (a AthenaValues) object() pulumi.Map {
	return pulumi.Map{"database": a.Database, "workgroup": a.Workgroup, "readPolicy": a.ReadPolicy}
}

// Costs are estimates of what the stack costs; docs/reference/config.md says under budget
// what they assume.
type Costs struct {
	Month    Amounts                `json:"month" help:"USD a month of the whole stack."`
	Clusters map[string]ClusterCost `json:"clusters" optional:"true" help:"The clusters, by their key in the configuration."`
	Unpriced []string               `json:"unpriced" optional:"true" help:"What has no price in the lists, and so is missing in the amounts."`
	Prices   []string               `json:"prices" optional:"true" help:"The price lists, with their dates."`
}

// ClusterCost is what one cluster costs.
type ClusterCost struct {
	Hour  Amounts `json:"hour" help:"USD an hour while it runs."`
	Month Amounts `json:"month" help:"USD a month."`
}

// Amounts are USD.
type Amounts struct {
	Least   float64 `json:"least" help:"At least."`
	Typical float64 `json:"typical" help:"As a rule."`
	Most    float64 `json:"most" help:"At most."`
}

// Cluster is one of the stack's EMR clusters.
type Cluster struct {
	ID                           string `json:"id" help:"j-…, the label cluster of its telemetry; empty if schedules start it."`
	Name                         string `json:"name" help:"EMR's name of it, by which dashboards choose; it stays."`
	MasterDNS                    string `json:"masterDns" help:"Private DNS name of the primary node; empty if schedules start it."`
	NodeRoleARN                  string `json:"nodeRoleArn" help:"Role of the nodes and their jobs; bucket policies elsewhere name it."`
	NodeRoleName                 string `json:"nodeRoleName" help:"Its name: attach policies here for what jobs need beyond the lake."`
	LogURI                       string `json:"logUri" help:"Where EMR archives its logs."`
	MasterSecurityGroupID        string `json:"masterSecurityGroupId" help:"Its EMR-managed group of primary nodes."`
	CoreSecurityGroupID          string `json:"coreSecurityGroupId" help:"Its EMR-managed group of core and task nodes."`
	ServiceAccessSecurityGroupID string `json:"serviceAccessSecurityGroupId" help:"Its service access group."`
}

// Network is where a cluster can run.
type Network struct {
	VPCID     string   `json:"vpcId" help:"The VPC."`
	SubnetIDs []string `json:"subnetIds" help:"Its private subnets."`
}

// Secrets are the outputs that Outputs leaves out.
type Secrets struct {
	Kubeconfig      string
	GrafanaPassword string
	StatusPassword  string
	ToolsToken      string
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
	VPCID                              pulumi.StringInput
	SubnetIDs                          pulumi.StringArrayInput
	Clusters                           map[string]ClusterValues
	Schedules                          ScheduleValues
	Athena                             AthenaValues
	Cost                               Costs
	Observe                            ObserveValues
	GrafanaURL, StatusURL, ToolsURL    pulumi.StringInput
	CACertificate                      pulumi.StringInput
	S3Paths, Dashboards, Endpoints     pulumi.StringMapInput
	Kubeconfig                         pulumi.StringInput // made secret here, whatever it was, as those below
	GrafanaPassword, StatusPassword    pulumi.StringInput
	ToolsToken                         pulumi.StringInput
}

// ClusterValues are a Cluster while the program runs.
type ClusterValues struct {
	ID, Name, MasterDNS, NodeRoleARN, NodeRoleName, LogURI                   pulumi.StringInput
	MasterSecurityGroupID, CoreSecurityGroupID, ServiceAccessSecurityGroupID pulumi.StringInput
}

func (c ClusterValues) object() pulumi.Map {
	return pulumi.Map{
		"id": c.ID, "name": c.Name, "masterDns": c.MasterDNS, "nodeRoleArn": c.NodeRoleARN, "nodeRoleName": c.NodeRoleName, "logUri": c.LogURI,
		"masterSecurityGroupId": c.MasterSecurityGroupID, "coreSecurityGroupId": c.CoreSecurityGroupID,
		"serviceAccessSecurityGroupId": c.ServiceAccessSecurityGroupID,
	}
}

// ObserveValues are observe.Settings while the program runs.
type ObserveValues struct {
	SecurityGroupID, NodePolicyARN pulumi.StringInput
	BootstrapPath, BootstrapHash   pulumi.StringInput
	BootstrapArgs                  pulumi.StringArrayInput
	Configurations                 []observe.Classification
	Tags                           map[string]string
}

func (o ObserveValues) object() pulumi.Map {
	return pulumi.Map{
		"securityGroupId": o.SecurityGroupID, "nodePolicyArn": o.NodePolicyARN,
		"bootstrap":      pulumi.Map{"path": o.BootstrapPath, "args": o.BootstrapArgs, "hash": o.BootstrapHash},
		"configurations": classifications(o.Configurations), "tags": pulumi.ToStringMap(o.Tags),
	}
}

// classifications returns a configuration list in the shape of its JSON.
func classifications(list []observe.Classification) pulumi.Array {
	out := make(pulumi.Array, len(list))
	for i, c := range list {
		entry := pulumi.Map{"Classification": pulumi.String(c.Classification), "Properties": pulumi.ToStringMap(c.Properties)}
		if len(c.Configurations) > 0 {
			entry["Configurations"] = classifications(c.Configurations)
		}
		out[i] = entry
	}
	return out
}

func (c Costs) object() pulumi.Map {
	amounts := func(a Amounts) pulumi.Map {
		return pulumi.Map{"least": pulumi.Float64(a.Least), "typical": pulumi.Float64(a.Typical), "most": pulumi.Float64(a.Most)}
	}
	clusters := pulumi.Map{}
	for key, of := range c.Clusters {
		clusters[key] = pulumi.Map{"hour": amounts(of.Hour), "month": amounts(of.Month)}
	}
	return pulumi.Map{"month": amounts(c.Month), "clusters": clusters, "prices": pulumi.ToStringArray(c.Prices),
		"unpriced": pulumi.ToStringArray(c.Unpriced)}
}

// Export declares the stack's outputs.
func Export(ctx *pulumi.Context, v Values) {
	clusters := pulumi.Map{}
	for key, c := range v.Clusters {
		clusters[key] = c.object()
	}
	flat := pulumi.Map{
		DataBucket:        v.DataBucket,
		S3Paths:           v.S3Paths,
		KMSKeyARN:         v.KMSKeyARN,
		ControlInstanceID: v.ControlInstanceID,
		ControlVolumeID:   v.ControlVolumeID,
		ControlPrivateIP:  v.ControlPrivateIP,
		ControlPublicIP:   v.ControlPublicIP,
		Clusters:          clusters,
		Schedules:         v.Schedules.object(),
		Athena:            v.Athena.object(),
		Cost:              v.Cost.object(),
		Observe:           v.Observe.object(),
		GrafanaURL:        v.GrafanaURL,
		StatusURL:         v.StatusURL,
		ToolsURL:          v.ToolsURL,
		CACertificate:     v.CACertificate,
	}
	object := pulumi.Map{
		schemaVersion: pulumi.Int(SchemaVersion),
		dashboards:    v.Dashboards,
		endpoints:     v.Endpoints,
		network:       pulumi.Map{"vpcId": v.VPCID, "subnetIds": v.SubnetIDs},
	}
	for name, value := range flat {
		ctx.Export(name, value)
		object[name] = value
	}
	ctx.Export(Observatory, object)
	ctx.Export(Kubeconfig, pulumi.ToSecret(v.Kubeconfig))
	ctx.Export(GrafanaPassword, pulumi.ToSecret(v.GrafanaPassword))
	ctx.Export(StatusPassword, pulumi.ToSecret(v.StatusPassword))
	ctx.Export(ToolsToken, pulumi.ToSecret(v.ToolsToken))
}
