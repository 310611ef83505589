package contract

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Type is how a metric's value is to be read.
type Type string

// The types. A counter only grows and is read through rate or increase; a
// histogram is three series: <name>_bucket, <name>_sum and <name>_count.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Source is the part that measures a metric.
type Source string

// The sources, in the order of the reference page.
const (
	SourceBootstrap       Source = "bootstrap action"
	SourceHost            Source = "hostmetrics receiver"
	SourceCollector       Source = "collector's own metrics"
	SourceResourceManager Source = "ResourceManager /prom"
	SourceNodeManager     Source = "NodeManager /prom"
	SourceNameNode        Source = "NameNode /prom"
	SourceDataNode        Source = "DataNode /prom"
	SourceDaemons         Source = "/prom of each of these daemons"
	SourceJVM             Source = "launcher, the JVM itself"
	SourceS3A             Source = "launcher, S3A's JMX beans"
	SourceSpark           Source = "spark plugin"
	SourceSteps           Source = "control node, steps of EMR"
	SourceClusters        Source = "control node, clusters of EMR"
	SourceSchedules       Source = "control node, schedules of EventBridge"
	SourceStores          Source = "control node's servers, /metrics"
)

// Sources lists every source once.
func Sources() []Source {
	return []Source{
		SourceBootstrap, SourceHost, SourceCollector, SourceResourceManager,
		SourceNodeManager, SourceNameNode, SourceDataNode, SourceDaemons, SourceJVM, SourceS3A, SourceSpark, SourceSteps, SourceClusters,
		SourceSchedules, SourceStores,
	}
}

// Release is the first EMR release on which a metric has this name and these
// labels.
type Release string

// The releases that matter.
const (
	// EMR615 is the oldest release the platform supports (Hadoop 3.3.6, Spark 3.4.1).
	EMR615 Release = "emr-6.15.0"
	// EMR78 has Hadoop 3.4.1. Before HADOOP-17804, which is in 3.4.0, /prom
	// shows only one queue and one RPC port of several.
	EMR78 Release = "emr-7.8.0"
	// EMR710 reads and writes s3:// through S3A, not EMRFS.
	EMR710 Release = "emr-7.10.0"
)

// Metric is one entry of the table.
type Metric struct {
	Name    string   // as VictoriaMetrics stores it
	Emitted string   // as the source names it, before VictoriaMetrics' naming rule
	Type    Type     // counter, gauge or histogram
	Unit    string   // UCUM; as the source reports it, or as its documentation says
	Labels  []string // labels besides those of its source (see SourceLabels)
	Source  Source
	Since   Release
	Help    string // one sentence
	OnlyIf  string // what must have happened for it to appear; "" = it always exists
}

// SourceLabels returns the labels that every metric of a source has: those of the
// host and the service, and for a JVM also those of its application. The control
// node's own metrics have no cluster, and a cluster's own have no host.
func SourceLabels(source Source) []string {
	labels := append(platform.HostLabels(), platform.ServiceName)
	switch source {
	case SourceJVM, SourceS3A, SourceSpark:
		labels = append(platform.HostLabels(), platform.JVMLabels()...)
	case SourceClusters:
		labels = []platform.Label{platform.Cluster, platform.ServiceName}
	case SourceSchedules:
		labels = []platform.Label{platform.ServiceName}
	case SourceStores:
		labels = []platform.Label{platform.NodeRole, platform.HostName, platform.ServiceName}
	}
	names := make([]string, 0, len(labels))
	for _, label := range labels {
		names = append(names, label.Metric())
	}
	return names
}

// Metrics returns the whole table, ordered by source and then by name.
func Metrics() []Metric {
	all := slices.Concat(bootstrapMetrics(), hostMetrics(), collectorMetrics(),
		resourceManagerMetrics(), nodeManagerMetrics(), nameNodeMetrics(), dataNodeMetrics(),
		daemonMetrics(), jvmMetrics(), s3aMetrics(), sparkMetrics(), stepMetrics(), clusterMetrics(), scheduleMetrics(), storeMetrics())
	order := Sources()
	slices.SortStableFunc(all, func(a, b Metric) int {
		if d := slices.Index(order, a.Source) - slices.Index(order, b.Source); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// Series lists the names under which a metric is queried: its own, or the
// three of a histogram.
func (m Metric) Series() []string {
	if m.Type == Histogram {
		return []string{m.Name + "_bucket", m.Name + "_sum", m.Name + "_count"}
	}
	return []string{m.Name}
}

// AllLabels returns all labels that a query may filter or group by.
func (m Metric) AllLabels() []string {
	labels := append(SourceLabels(m.Source), m.Labels...)
	if m.Type == Histogram {
		labels = append(labels, "le", "vmrange")
	}
	return labels
}

// Find returns the entry that a queried series belongs to.
func Find(series string) (Metric, bool) {
	for _, m := range Metrics() {
		if slices.Contains(m.Series(), series) {
			return m, true
		}
	}
	return Metric{}, false
}
