// Package scope renders what the dashboards' queries share: the label matchers
// of the chosen cluster, host or application in each store's query language,
// and the label lists that aggregations group by.
//
// It depends on the platform's labels, but on no dashboard.
package scope

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Scope is the list of variables that narrow a query, outermost first.
type Scope struct {
	variables  []Variable
	unlabelled bool
}

// Of narrows by the given variables, outermost first. A dashboard that uses a
// scope must offer its variables.
func Of(variables ...Variable) Scope { return Scope{variables: variables} }

// Clusters narrows to the chosen clusters.
func Clusters() Scope { return Of(Cluster) }

// Hosts narrows to the chosen hosts.
func Hosts() Scope { return Of(Cluster, Role, Host) }

// Applications narrows to the JVMs of the chosen applications on the chosen
// hosts.
func Applications() Scope { return Of(Cluster, Role, Host, Application) }

// ControlNode narrows to the chosen clusters and the control node, whose own
// metrics carry no cluster label.
func ControlNode() Scope { return Scope{variables: []Variable{Cluster}, unlabelled: true} }

// Metric selects the series of a metric within the scope.
func (s Scope) Metric(name string, filters ...Filter) string {
	return name + "{" + joinFilters(s.filters(), filters) + "}"
}

// Metrics selects the series of all metrics whose name matches a pattern.
func (s Scope) Metrics(pattern string, filters ...Filter) string {
	return "{" + joinFilters([]Filter{Match("__name__", pattern)}, s.filters(), filters) + "}"
}

// Matchers returns the scope as label matchers of a PromQL selector, without its braces.
func (s Scope) Matchers() string { return joinFilters(s.filters()) }

func (s Scope) filters() []Filter {
	filters := make([]Filter, 0, len(s.variables))
	for _, v := range s.variables {
		value := "$" + string(v)
		if s.unlabelled {
			value += "|" // the empty alternative matches series without the label
		}
		filters = append(filters, Match(v.Label().Metric(), value))
	}
	return filters
}

// Stream returns the scope as a LogsQL stream filter.
func (s Scope) Stream() string {
	return "{" + s.each(`"%s"=~"%s"`, ",", Variable.attribute) + "}"
}

// Spans returns the scope as a TraceQL spanset filter on resource attributes.
func (s Scope) Spans() string {
	return "{ " + s.each(`resource.%s =~ "%s"`, " && ", Variable.attribute) + " }"
}

// Profiles returns the scope as a Pyroscope label selector.
func (s Scope) Profiles() string {
	return "{" + s.each(`%s=~"%s"`, ",", Variable.metricLabel) + "}"
}

// each renders one matcher per variable, from the label's name and the chosen
// values as a regular expression.
func (s Scope) each(format, separator string, name func(Variable) string) string {
	matchers := make([]string, 0, len(s.variables))
	for _, v := range s.variables {
		matchers = append(matchers, fmt.Sprintf(format, name(v), v.Pattern()))
	}
	return strings.Join(matchers, separator)
}

// Variables returns the drop-downs of the scope; each lists only values that occur
// with what is chosen in those above it. Clusters are chosen by name.
func (s Scope) Variables() []panel.Variable {
	variables := make([]panel.Variable, 0, len(s.variables))
	for i, v := range s.variables {
		if v == Cluster {
			variables = append(variables, clusterVariables(v.metric())...)
			continue
		}
		selector := v.metric()
		if i > 0 {
			selector = Of(s.variables[:i]...).Metric(selector)
		}
		variables = append(variables, panel.Variable{Name: string(v), Label: v.title(), Query: values(selector, v.Label().Metric())})
	}
	return variables
}

// Stream returns a LogsQL stream filter on one label's exact value.
func Stream(label platform.Label, value string) string {
	return fmt.Sprintf(`{"%s"="%s"}`, label, value)
}

// Spans returns a TraceQL spanset filter on one resource attribute.
func Spans(label platform.Label, pattern string) string {
	return fmt.Sprintf(`{ resource.%s =~ "%s" }`, label, pattern)
}

// Profiles returns a Pyroscope label selector on one label's exact value.
func Profiles(label platform.Label, value string) string {
	return fmt.Sprintf(`{%s="%s"}`, label.Metric(), value)
}
