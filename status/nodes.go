package status

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Window is how long ago a node may have sent its last metric to be listed.
// Nodes send every few seconds, and a queue that drains after an outage is
// caught up well within it.
const Window = 5 * time.Minute

// reportWindow is how far back a bootstrap report is looked for. The report is
// about the node's first minutes, so it is as old as the node.
const reportWindow = 30 * 24 * time.Hour

// silentWindow is how long a node without a collector is listed: the bootstrap
// action's own report is all that is ever heard of it.
const silentWindow = 24 * time.Hour

// sample is one series of an instant query.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // time, and the value as a string
}

func (s sample) label(name platform.Label) string { return s.Metric[name.Metric()] }

func (s sample) number() (float64, error) {
	text, _ := s.Value[1].(string)
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("read value %v of %v: %w", s.Value[1], s.Metric, err)
	}
	return number, nil
}

// readNodes finds the nodes in VictoriaMetrics and what their bootstrap said.
func readNodes(ctx context.Context, victoriaMetrics string) ([]Node, error) {
	host := strings.Join(metricNames(platform.HostLabels()), ",")
	component := platform.BootstrapComponent.Metric()
	heard, err := query(ctx, victoriaMetrics, fmt.Sprintf(
		"max(tlast_over_time(%s[%s])) by (%s)", platform.MetricHostSeen, seconds(Window), host))
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	silent, err := query(ctx, victoriaMetrics, fmt.Sprintf(
		"max(tlast_over_time(%[1]s) and last_over_time(%[1]s) == 0) by (%[2]s) unless on (%[2]s) last_over_time(%[3]s[%[4]s])",
		fmt.Sprintf("%s{%s=%q}[%s]", platform.MetricBootstrapUp, component, platform.ComponentCollector, seconds(silentWindow)),
		host, platform.MetricHostSeen, seconds(Window)))
	if err != nil {
		return nil, fmt.Errorf("read nodes without a collector: %w", err)
	}
	reports, err := query(ctx, victoriaMetrics, fmt.Sprintf(
		"min(last_over_time(%s[%s])) by (%s,%s)", platform.MetricBootstrapUp, seconds(reportWindow), host, component))
	if err != nil {
		return nil, fmt.Errorf("read bootstrap reports: %w", err)
	}
	nodes := []Node{}
	for _, s := range slices.Concat(heard, silent) {
		node, err := nodeOf(s, reports)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b Node) int {
		return compare(a.Cluster+" "+roleOrder(a.Role)+" "+a.Host, b.Cluster+" "+roleOrder(b.Role)+" "+b.Host)
	})
	return nodes, nil
}

// nodeOf makes a node of when it was last heard of, and of its bootstrap's
// reports among all.
func nodeOf(heard sample, reports []sample) (Node, error) {
	at, err := heard.number()
	if err != nil {
		return Node{}, err
	}
	node := Node{
		Cluster: heard.label(platform.Cluster), Role: heard.label(platform.NodeRole), Host: heard.label(platform.HostName),
		LastSeen:   time.UnixMilli(int64(at * 1000)).UTC(),
		Components: map[platform.NodeComponent]bool{},
	}
	for _, report := range reports {
		if report.label(platform.Cluster) != node.Cluster || report.label(platform.HostName) != node.Host {
			continue
		}
		up, err := report.number()
		if err != nil {
			return Node{}, err
		}
		node.Components[platform.NodeComponent(report.label(platform.BootstrapComponent))] = up == 1
	}
	return node, nil
}

// roleOrder sorts the master before core and task nodes.
func roleOrder(role string) string {
	roles := []string{platform.RoleControl, platform.RoleMaster, platform.RoleCore, platform.RoleTask}
	if at := slices.Index(roles, role); at >= 0 {
		return strconv.Itoa(at)
	}
	return strconv.Itoa(len(roles)) + role
}

func metricNames(labels []platform.Label) []string {
	names := make([]string, 0, len(labels))
	for _, label := range labels {
		names = append(names, label.Metric())
	}
	return names
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

// query runs an instant query of VictoriaMetrics' Prometheus API. By default
// it hides the last 30 s (-search.latencyOffset), in which a graph would show
// gaps; a node that has just come up shall be seen.
func query(ctx context.Context, base, expression string) ([]sample, error) {
	body, err := get(ctx, patience, strings.TrimSuffix(base, "/")+"/api/v1/query?latency_offset=1s&query="+url.QueryEscape(expression))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var answered struct {
		Data struct {
			Result []sample `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(body).Decode(&answered); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", expression, err)
	}
	return answered.Data.Result, nil
}
