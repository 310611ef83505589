package platform

// Prefix is a top-level prefix of the data bucket. It ends in a slash and
// begins with a letter: Pyroscope refuses a storage prefix whose segment
// starts with a digit (grafana/pyroscope validStoragePrefixPart).
type Prefix string

// The data bucket's layout.
const (
	PrefixTempo     Prefix = "tempo/"
	PrefixPyroscope Prefix = "pyroscope/"
	PrefixArtifacts Prefix = "artifacts/" // artifacts/<sha256>/<name>
	PrefixEMRLogs   Prefix = "emr-logs/"
	PrefixLake      Prefix = "lake/"
)

// PrefixHistory holds the tables of the profiler. It is within the lake, so that analysts who
// may read the lake read it too; nodes do not, and only the control node may write it.
const PrefixHistory = PrefixLake + "history/"

// PrefixNotebooks is where EMR's JupyterHub keeps notebooks, below it a folder for each of
// its users (EMR Release Guide, "Configuring persistence for notebooks in Amazon S3").
const PrefixNotebooks Prefix = "jupyter/"

// PrefixAthena is where Athena keeps the results of queries over the history, if the stack has a workgroup.
const PrefixAthena Prefix = "athena/"

// Prefixes lists the layout in a fixed order.
func Prefixes() []Prefix {
	return []Prefix{PrefixTempo, PrefixPyroscope, PrefixArtifacts, PrefixEMRLogs, PrefixLake}
}

// ClusterLogs returns the prefix of a cluster's logs, below PrefixEMRLogs. key is the
// cluster's in the configuration.
func ClusterLogs(key string) Prefix { return PrefixEMRLogs + Prefix(key) + "/" }

// Name returns the prefix without its trailing slash, as Tempo's and Pyroscope's
// configuration takes it.
func (p Prefix) Name() string { return string(p[:len(p)-1]) }

// URI returns the prefix in bucket: "s3://bucket/tempo/".
func (p Prefix) URI(bucket string) string { return "s3://" + bucket + "/" + string(p) }

// ArtifactKey returns the content-addressed key of an artifact in the data bucket.
func ArtifactKey(sha256, name string) string { return string(PrefixArtifacts) + sha256 + "/" + name }

// S3Paths are the platform's S3 locations, as s3:// URIs. The stack output s3Paths,
// the status server's configuration and /status have this same value.
type S3Paths struct {
	Data      string `json:"data" help:"The whole data bucket."`
	Tempo     string `json:"tempo" help:"Blocks of traces."`
	Pyroscope string `json:"pyroscope" help:"Blocks of profiles."`
	Artifacts string `json:"artifacts" help:"What machines install, by the sha256 of its content."`
	EMRLogs   string `json:"emrLogs" help:"Logs that EMR archives."`
	Lake      string `json:"lake" help:"Tables of the jobs, and of their history below history/."`
}

// NewS3Paths returns the paths in a data bucket.
func NewS3Paths(bucket string) S3Paths {
	return S3Paths{
		Data:      "s3://" + bucket + "/",
		Tempo:     PrefixTempo.URI(bucket),
		Pyroscope: PrefixPyroscope.URI(bucket),
		Artifacts: PrefixArtifacts.URI(bucket),
		EMRLogs:   PrefixEMRLogs.URI(bucket),
		Lake:      PrefixLake.URI(bucket),
	}
}
