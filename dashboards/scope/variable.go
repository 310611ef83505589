package scope

import "github.com/emr-observatory/emr-observatory/platform"

// Variable is a drop-down of a dashboard, whose selection narrows queries by one of
// the platform's labels.
type Variable string

// The variables, outermost first. Dashboards link to each other with these
// names, so all of them use the same ones.
const (
	Cluster     Variable = "cluster"
	Role        Variable = "role"
	Host        Variable = "host"
	Application Variable = "application"
	Executor    Variable = "executor"

	// App is one application, where Application is any number of them: a dashboard about
	// one cannot take over "All" from another's address.
	App Variable = "app"
)

// definition is the label that a variable lists, and the metric that it lists it of.
type definition struct {
	title  string
	label  platform.Label
	metric string // a gauge that everything with the label reports
}

func (v Variable) definition() definition {
	const ofHosts, ofJVMs = "system_cpu_logical_count", "jvm_class_count"
	switch v {
	case ClusterName:
		return definition{"Cluster", platform.LabelClusterName, platform.MetricClusterInfo}
	case Cluster:
		return definition{"Cluster's id", platform.Cluster, ofHosts}
	case Role:
		return definition{"Role", platform.NodeRole, ofHosts}
	case Host:
		return definition{"Host", platform.HostName, ofHosts}
	case Application:
		return definition{"Application", platform.SparkAppID, ofJVMs}
	case App:
		return definition{"Application", platform.SparkAppID, platform.MetricApplicationInfo}
	case Executor:
		return definition{"Executor", platform.SparkExecutorID, ofJVMs}
	}
	return definition{}
}

// Label returns the label that the variable narrows.
func (v Variable) Label() platform.Label { return v.definition().label }

func (v Variable) title() string       { return v.definition().title }
func (v Variable) metric() string      { return v.definition().metric }
func (v Variable) metricLabel() string { return v.Label().Metric() }
func (v Variable) attribute() string   { return string(v.Label()) }

// Pattern returns the chosen values as a regular expression, for query languages
// whose Grafana plugin does not make one by itself.
func (v Variable) Pattern() string { return "${" + string(v) + ":pipe}" }
