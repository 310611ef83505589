package run

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
)

// Environments.
const (
	dev  = "dev"
	prod = "prod"
)

// Options say where the history is found, what of it is read, and where the tables go.
type Options struct {
	// The source: EMR's clusters, unless Databricks, Logs or HistoryServer is set.
	Region        string // "" is that of the AWS configuration
	ClusterARN    string // one EMR cluster instead of all
	ClusterID     string // one EMR cluster, if the filters below select it; has no flag
	Logs          string // folder or s3:// URI of event logs
	HistoryServer string // URL of a history server or a Spark UI
	Databricks    bool   // the clusters of Workspace
	WorkspaceFile string // has the variables of Workspace
	Workspace     Workspace
	SourceName    string // cluster_id of rows from Logs or HistoryServer; "" is derived from them

	States        []types.ClusterState // of EMR clusters; empty is all
	NameFilter    string
	CreatedAfter  time.Time // zero is no limit
	CreatedBefore time.Time
	Tags          map[string]string // that a cluster must have; empty is any

	MaxClusters      int // 0 is no limit
	MaxApplications  int // of each cluster; 0 is no limit
	EndpointFailures int // after which an endpoint of an application attempt is not called any more
	IncludeTasks     bool

	Timeout        time.Duration // of one request
	UITimeout      time.Duration // until a persistent UI is ready
	MaxUIs         int           // persistent UIs of an account that may be in use
	ClusterThreads int
	AppThreads     int // of each cluster
	BatchSize      int // clusters
	BatchDelay     time.Duration

	Environment   string
	S3OutputPath  string // s3:// URI of the tables
	Output        string // folder of the tables, if S3OutputPath is ""
	RetentionDays int    // that rows are kept, by the start of their application; 0 is for ever
	Compact       bool   // also where no compacted tables are yet

	Interval time.Duration // between the starts of two runs of serve
	Listen   string        // host:port of serve's pages

	PasswordFile string // of those who may wake serve; "" if nobody may

	CatalogName, SchemaName, VolumeName string // where ddl declares the tables

	Tools ToolServer // of tools only
}

// Workspace is a workspace of Databricks, and who asks it.
type Workspace struct {
	Host  string // URL
	Token workspace.Token

	DataPlane string          // URL of the clusters' Spark UIs; "" asks none
	Cookie    workspace.Token // of a browser that is logged in to them
}

// Option declares one setting. Its flag, environment variable, key in a file and line in
// the reference all come from this.
type Option struct {
	// Name is the key in a file and the environment variable, in lower case as users of
	// the notebooks know it (POSIX leaves such names to applications).
	Name    string
	Default string
	Doc     string
	Rule    string // "must be …"; "" accepts every text
	Switch  bool   // its flag needs no value
	Hidden  bool   // a value that breaks the rule may hold a secret: it is not shown

	set func(*Options, string) bool // false: the text breaks the rule
}

// Flag returns the option's flag, without dashes in front.
func (o Option) Flag() string { return strings.ReplaceAll(o.Name, "_", "-") }

// Table lists the options of a run in the order of the reference.
func Table() []Option {
	return slices.Concat(sourceOptions(), limitOptions(), paceOptions(), outputOptions(), []Option{compactOption()})
}

// LakeOptions are those that say where the tables are and how long their rows stay.
func LakeOptions() []Option { return append(outputOptions(), regionOption()) }

func sourceOptions() []Option {
	return []Option{
		regionOption(),
		text("emr_cluster_arn", "", "One cluster. Empty: clusters are discovered.",
			"must be the ARN of an EMR cluster, of any partition: arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-…",
			func(s string) bool { _, err := source.ParseClusterARN(s); return err == nil }, func(o *Options) *string { return &o.ClusterARN }),
		text("logs", "", "Folder or s3:// URI with event logs, in place of EMR: those of Spark or Databricks, or the zips that history servers"+
			" give.",
			"must be a folder or s3://bucket/prefix/", isFolderOrS3, func(o *Options) *string { return &o.Logs }),
		hidden(text("history_server", "", "URL of a history server or a Spark UI, in place of EMR.",
			"must be an http:// or https:// URL without user and password", plainURL, func(o *Options) *string { return &o.HistoryServer })),
		{
			Name: "databricks", Default: "false", Doc: "Clusters of a Databricks workspace, in place of EMR. " + WorkspaceHost + " and " +
				WorkspaceToken + " come from the environment or databricks_file, and so do " + DataPlaneURL + " and " + DataPlaneCookie +
				", with which the Spark UIs of clusters that deliver no logs are read.",
			Rule: "must be true or false", Switch: true,
			set: func(o *Options, s string) (ok bool) { o.Databricks, ok = parseBool(s); return ok },
		},
		text("databricks_file", "", "File that only its owner can read, with lines NAME=VALUE of these variables.",
			"", nil, func(o *Options) *string { return &o.WorkspaceFile }),
		text("source_name", "", "cluster_id of the rows of logs or history_server. Empty: the folder's or the host's name.",
			"", nil, func(o *Options) *string { return &o.SourceName }),
		{
			Name: "cluster_states", Default: "ALL", Doc: "States of the clusters that are analyzed, separated by commas, or ALL.",
			Rule: "must be ALL or a list of " + strings.Join(clusterStates(), ", "), set: setStates,
		},
		text("cluster_name_filter", "", "Only clusters whose name contains this text.", "", nil,
			func(o *Options) *string { return &o.NameFilter }),
		{
			Name: "cluster_tags", Doc: "Only clusters with all of these tags, separated by commas. Empty: any.",
			Rule: "must be a list of KEY=VALUE", set: setTags,
		},
		date("created_after_date", "Only clusters created on this day (UTC) or later.",
			func(o *Options) *time.Time { return &o.CreatedAfter }),
		date("created_before_date", "Only clusters created before this day (UTC).",
			func(o *Options) *time.Time { return &o.CreatedBefore }),
	}
}

func regionOption() Option {
	return text("aws_region", "", "AWS region of the clusters. Empty: the region of emr_cluster_arn, or that of the AWS configuration.",
		"must be an AWS region name such as us-east-1", platform.IsRegion, func(o *Options) *string { return &o.Region })
}

func limitOptions() []Option {
	return []Option{
		number("max_clusters", "5", "Clusters that one run analyzes: first those that no run has read, then ended ones, the newest first "+
			"of each. Those whose history is complete do not count. 0: all.",
			0, func(o *Options) *int { return &o.MaxClusters }),
		number("max_applications", "0", "Applications of each cluster that one run analyzes; those that are complete do not count. 0: all.",
			0, func(o *Options) *int { return &o.MaxApplications }),
		number("max_endpoint_failures", "3", "Failed requests to a REST endpoint of an application attempt after which it is not "+
			"called any more. Also failed downloads of event logs from a cluster's history server, after which its other applications are "+
			"read by REST only.", 1, func(o *Options) *int { return &o.EndpointFailures }),
		{
			Name: "include_tasks", Default: "false", Doc: "Also write the table tasks, a row for each attempt of a task.",
			Rule: "must be true or false", Switch: true,
			set: func(o *Options, s string) (ok bool) { o.IncludeTasks, ok = parseBool(s); return ok },
		},
		number("max_persistent_uis", "180", "Persistent UIs of an account and region that the profiler may have at one time. EMR allows 200"+
			" by default and has no call that deletes one.", 1, func(o *Options) *int { return &o.MaxUIs }),
	}
}

func paceOptions() []Option {
	return []Option{
		seconds("timeout_seconds", "300", "Timeout of a request to EMR, and of one to a workspace or a history server with its retries. The "+
			"first one for an application has 15 minutes, as the server then replays the event log; a download of event logs ends after a "+
			"minute without data.",
			1, func(o *Options) *time.Duration { return &o.Timeout }),
		seconds("persistent_ui_timeout_seconds", "180", "How long a persistent UI may take to become ready.", 1,
			func(o *Options) *time.Duration { return &o.UITimeout }),
		number("max_cluster_threads", "4", "Clusters that are analyzed at one time.", 1, func(o *Options) *int { return &o.ClusterThreads }),
		number("max_app_threads", "2", "Applications of a cluster that are analyzed at one time.", 1,
			func(o *Options) *int { return &o.AppThreads }),
		number("batch_size", "10", "Clusters that are read before a pause of batch_delay_seconds.", 1,
			func(o *Options) *int { return &o.BatchSize }),
		seconds("batch_delay_seconds", "2", "Pause between batches.", 0, func(o *Options) *time.Duration { return &o.BatchDelay }),
	}
}

func outputOptions() []Option {
	return []Option{
		text("environment", dev, "dev writes to a folder or to S3, prod to S3 only.", "must be dev or prod",
			func(s string) bool { return s == dev || s == prod }, func(o *Options) *string { return &o.Environment }),
		text("s3_output_path", "", "Where the tables go: s3://bucket/prefix/. Required in prod.", "must be s3://bucket/prefix/",
			func(s string) bool { _, _, ok := s3files.Split(s); return ok }, func(o *Options) *string { return &o.S3OutputPath }),
		text("output", "", "Folder that the tables go to, without s3_output_path. Empty: history in the working folder.", "", nil,
			func(o *Options) *string { return &o.Output }),
		number("retention_days", "0", "Days that rows are kept after the start of their application; older ones are removed at the end of a"+
			" run, and not read again. 0: for ever.", 0, func(o *Options) *int { return &o.RetentionDays }),
	}
}

// isFolderOrS3 refuses URIs of other schemes, and buckets without a prefix.
func isFolderOrS3(s string) bool {
	_, _, inS3 := s3files.Split(s)
	return inS3 || !strings.Contains(s, "://")
}

func plainURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

func parseBool(s string) (value, ok bool) {
	s = strings.ToLower(s)
	return s == "true", s == "true" || s == "false"
}

func clusterStates() []string {
	var names []string
	for _, state := range types.ClusterState("").Values() {
		names = append(names, string(state))
	}
	return names
}

func setStates(o *Options, s string) bool {
	o.States = nil
	if strings.EqualFold(s, "ALL") {
		return true
	}
	for name := range strings.SplitSeq(s, ",") {
		name = strings.ToUpper(strings.TrimSpace(name))
		if !slices.Contains(clusterStates(), name) {
			return false
		}
		o.States = append(o.States, types.ClusterState(name))
	}
	return true
}

func setTags(o *Options, s string) bool {
	o.Tags = nil
	if s == "" {
		return true
	}
	o.Tags = map[string]string{}
	for pair := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || key == "" {
			return false
		}
		o.Tags[key] = value
	}
	return true
}

func hidden(o Option) Option {
	o.Hidden = true
	return o
}

// text is an option whose value is kept as it is. The rule does not apply to "".
func text(name, fallback, doc, rule string, valid func(string) bool, field func(*Options) *string) Option {
	return Option{Name: name, Default: fallback, Doc: doc, Rule: rule, set: func(o *Options, s string) bool {
		*field(o) = s
		return s == "" || valid == nil || valid(s)
	}}
}

func number(name, fallback, doc string, least int, field func(*Options) *int) Option {
	rule := fmt.Sprintf("must be a whole number, %d or more", least)
	return Option{Name: name, Default: fallback, Doc: doc, Rule: rule, set: func(o *Options, s string) (ok bool) {
		*field(o), ok = parseWhole(s, least)
		return ok
	}}
}

func seconds(name, fallback, doc string, least int, field func(*Options) *time.Duration) Option {
	rule := fmt.Sprintf("must be a whole number of seconds, %d or more", least)
	return Option{Name: name, Default: fallback, Doc: doc, Rule: rule, set: func(o *Options, s string) bool {
		n, ok := parseWhole(s, least)
		*field(o) = time.Duration(n) * time.Second
		return ok
	}}
}

func parseWhole(s string, least int) (n int, ok bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= least && n <= math.MaxInt32
}

func date(name, doc string, field func(*Options) *time.Time) Option {
	return Option{Name: name, Doc: doc, Rule: "must be a date such as 2026-01-31", set: func(o *Options, s string) bool {
		if s == "" {
			return true
		}
		day, err := time.Parse(time.DateOnly, s)
		*field(o) = day
		return err == nil
	}}
}
