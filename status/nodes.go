package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Window is how long a node is listed after its last metric. Nodes send metrics every
// few seconds; after an outage, a node's queue drains within this time.
const Window = 5 * time.Minute

// reportWindow is how far back bootstrap reports are read. A report is as old as
// its node.
const reportWindow = 30 * 24 * time.Hour

// silentWindow is how long a node without a collector is listed. It sends nothing
// but the bootstrap action's report.
const silentWindow = 24 * time.Hour

// sample is one series of an instant query.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // time, and the value as a string
}

// label returns the value of a label.
func (s sample) label(name platform.Label) string { return s.Metric[name.Metric()] }

// number returns the value of a sample.
func (s sample) number() (float64, error) {
	text, _ := s.Value[1].(string)
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("read value %v of %v: %w", s.Value[1], s.Metric, err)
	}
	return number, nil
}

// Nodes reads the nodes and their bootstrap reports from VictoriaMetrics.
func (s Source) Nodes(ctx context.Context) ([]Node, error) {
	host := strings.Join(metricNames(platform.HostLabels()), ",")
	component := platform.BootstrapComponent.Metric()
	seen, err := s.query(ctx, fmt.Sprintf(
		"max(tlast_over_time(%s[%s])) by (%s)", platform.MetricHostSeen, seconds(Window), host))
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	silent, err := s.query(ctx, fmt.Sprintf(
		"max(tlast_over_time(%[1]s) and last_over_time(%[1]s) == 0) by (%[2]s) unless on (%[2]s) last_over_time(%[3]s[%[4]s])",
		fmt.Sprintf("%s{%s=%q}[%s]", platform.MetricBootstrapUp, component, platform.ComponentCollector, seconds(silentWindow)),
		host, platform.MetricHostSeen, seconds(Window)))
	if err != nil {
		return nil, fmt.Errorf("read nodes without a collector: %w", err)
	}
	reports, err := s.query(ctx, fmt.Sprintf(
		"min(last_over_time(%s[%s])) by (%s,%s)", platform.MetricBootstrapUp, seconds(reportWindow), host, component))
	if err != nil {
		return nil, fmt.Errorf("read bootstrap reports: %w", err)
	}
	nodes := []Node{}
	for _, found := range slices.Concat(seen, silent) {
		node, err := newNode(found, reports)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b Node) int {
		return strings.Compare(a.Cluster+" "+roleOrder(a.Role)+" "+a.Host, b.Cluster+" "+roleOrder(b.Role)+" "+b.Host)
	})
	return nodes, nil
}

// Reporting returns the clusters of which something was stored since a time, at the
// latest since the day before it: VictoriaMetrics looks into its index of whole days,
// which costs nothing like reading a day's samples.
func (s Source) Reporting(ctx context.Context, since time.Time) ([]string, error) {
	at := strings.TrimSuffix(s.Config.Endpoints[platform.WorkloadVictoriaMetrics].URL, "/")
	label := platform.Cluster.Metric()
	query := url.Values{
		"match[]": {fmt.Sprintf(`{__name__=~"%s|%s",%s!=""}`, platform.MetricHostSeen, platform.MetricBootstrapUp, label)},
		"start":   {strconv.FormatInt(since.Unix(), 10)},
	}
	var response struct {
		Data []string `json:"data"`
	}
	if err := s.ask(ctx, at+"/api/v1/label/"+label+"/values", query, &response); err != nil {
		return nil, fmt.Errorf("read the clusters that report: %w", err)
	}
	return response.Data, nil
}

// newNode returns the node of a sample, whose value is when the node was last seen.
// reports are those of all nodes; it uses this node's.
func newNode(seen sample, reports []sample) (Node, error) {
	at, err := seen.number()
	if err != nil {
		return Node{}, err
	}
	node := Node{
		Cluster: seen.label(platform.Cluster), Role: seen.label(platform.NodeRole), Host: seen.label(platform.HostName),
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

// roleOrder returns a role's sort key: control, master, core, task, then others.
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

// query runs an instant query on VictoriaMetrics. By default VictoriaMetrics hides the last 30 s
// (-search.latencyOffset), in which a graph would have gaps; here a node that has
// just started must be visible.
func (s Source) query(ctx context.Context, expression string) ([]sample, error) {
	at := strings.TrimSuffix(s.Config.Endpoints[platform.WorkloadVictoriaMetrics].URL, "/") + "/api/v1/query"
	var response struct {
		Data struct {
			Result []sample `json:"result"`
		} `json:"data"`
	}
	err := s.ask(ctx, at, url.Values{"latency_offset": {"1s"}, "query": {expression}}, &response)
	return response.Data.Result, err
}

// ask decodes the answer of VictoriaMetrics to a query.
func (s Source) ask(ctx context.Context, at string, query url.Values, into any) error {
	body, err := get(ctx, s.Client, requestTimeout, at+"?"+query.Encode())
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		failed.URL = at // people read it: without the expression
	}
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("decode the response to %s: %w", query.Encode(), err)
	}
	return nil
}
