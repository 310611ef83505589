package emr

import (
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Args says what cluster to build. Plain values are needed to plan; Validate
// checks them. The inputs come from other components and are all required.
type Args struct {
	Region       string   // required
	ReleaseLabel string   // required, emr-X.Y.Z of at least oldestRelease
	Applications []string // required, Spark among them

	Master InstanceGroup  // count 1 or 3
	Core   InstanceGroup  // count at least 1
	Task   *InstanceGroup // nil = none

	IdleTimeout           time.Duration // whole seconds, 1 min to 7 days; 0 = never
	TerminationProtection bool
	Ephemeral             bool // forbids TerminationProtection, permits a primary node on spot

	// SparkDefaults are merged key by key over the platform's. One that would
	// take the observatory's agent out of the JVMs is refused unless
	// AllowSparkWithoutAgent is set.
	SparkDefaults          map[string]string
	AllowSparkWithoutAgent bool

	SubnetID                     pulumi.StringInput
	MasterSecurityGroupID        pulumi.StringInput
	CoreSecurityGroupID          pulumi.StringInput
	ServiceAccessSecurityGroupID pulumi.StringInput
	Bucket                       pulumi.StringInput
	BucketARN                    pulumi.StringInput
	KMSKeyARN                    pulumi.StringInput
	BootstrapPath                pulumi.StringInput      // s3://…
	BootstrapArgs                pulumi.StringArrayInput // carries the content hash: EMR's provider overlooks a change of the path alone

	Tags map[string]string // added to every resource that can carry tags; EMR hands them on to instances
}

// InstanceGroup is the machines of one role.
type InstanceGroup struct {
	InstanceType string // m5.xlarge
	Count        int
	EBS          []Volume // empty = EMR's own choice for the type
	BidPrice     string   // highest spot price, USD per hour; empty = on demand
}

// Volume is the EBS volumes of one kind on each instance of a group.
type Volume struct {
	Type        string // gp3, gp2, io1, st1, sc1, standard
	SizeGiB     int
	IOPS        int // gp3 and io1; 0 = the type's own
	Throughput  int // MiB/s, gp3 of master and core; 0 = the type's own
	PerInstance int // 0 = 1
}

// volumes is how many of the kind each instance gets.
func (v Volume) volumes() int {
	if v.PerInstance == 0 {
		return 1
	}
	return v.PerInstance
}
