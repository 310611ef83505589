package source

// Operations of EMR's API that a run calls.
const (
	OpListClusters         = "ListClusters"
	OpDescribeCluster      = "DescribeCluster"
	OpListSteps            = "ListSteps"
	OpListInstanceGroups   = "ListInstanceGroups"
	OpListInstanceFleets   = "ListInstanceFleets"
	OpCreatePersistentUI   = "CreatePersistentAppUI"
	OpDescribePersistentUI = "DescribePersistentAppUI"
	OpPersistentUIURL      = "GetPersistentAppUIPresignedURL"
	OpOnClusterUIURL       = "GetOnClusterAppUIPresignedURL"
)

// Operations of S3 that a run calls.
const (
	OpGetObject    = "GetObject"
	OpListObjects  = "ListObjectsV2"
	OpPutObject    = "PutObject"
	OpDeleteObject = "DeleteObject"
)

// Target is what a call reads or writes.
type Target string

// Targets of calls.
const (
	AnyCluster   Target = "clusters"      // all clusters: the action has no resource
	EachCluster  Target = "cluster"       // the cluster's ARN
	PersistentUI Target = "persistent UI" // its ARN, and the cluster's
	StepLogs     Target = "step logs"     // objects below the clusters' log URIs
	EventLogs    Target = "event logs"    // objects below the folder of event logs
	Lake         Target = "lake"          // objects below the prefix of the tables
)

// Call is an AWS API call that a run makes.
type Call struct {
	Service   string // EMR or S3
	Operation string // SDK name
	Target    Target
}

// Calls returns the AWS API calls that a run may make, over all options, with the IAM
// actions that they need. A test compares them with the requests of runs.
func Calls() map[Call][]string {
	calls := map[Call][]string{
		// Without the permission to list, S3 responds 403 rather than 404 for a missing object
		// (S3 API Reference, GetObject).
		{"S3", OpGetObject, StepLogs}:    {"s3:GetObject", "s3:ListBucket"},
		{"S3", OpGetObject, EventLogs}:   {"s3:GetObject"},
		{"S3", OpListObjects, EventLogs}: {"s3:ListBucket"},
		{"S3", OpGetObject, Lake}:        {"s3:GetObject", "s3:ListBucket"},
		{"S3", OpListObjects, Lake}:      {"s3:ListBucket"},
		{"S3", OpPutObject, Lake}:        {"s3:PutObject"},
		{"S3", OpDeleteObject, Lake}:     {"s3:DeleteObject"},
	}
	for operation, target := range map[string]Target{
		OpListClusters: AnyCluster, OpDescribeCluster: EachCluster, OpListSteps: EachCluster, OpListInstanceGroups: EachCluster,
		OpListInstanceFleets: EachCluster, OpCreatePersistentUI: EachCluster, OpDescribePersistentUI: PersistentUI,
		OpPersistentUIURL: PersistentUI, OpOnClusterUIURL: EachCluster,
	} {
		calls[Call{"EMR", operation, target}] = []string{"elasticmapreduce:" + operation}
	}
	url := Call{"EMR", OpPersistentUIURL, PersistentUI}
	calls[url] = append(calls[url], allEventLogs)
	return calls
}
