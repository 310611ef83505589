package status

import (
	"bytes"
	"cmp"
	_ "embed" // the page's template and style
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS []byte
)

// stylePath is where the page's style is served.
const stylePath = Path + "/style.css"

// policy lets the page load its own style and nothing else; it needs no scripts.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is what the template shows. All texts in it are data: html/template escapes them.
type page struct {
	Status
	Read     time.Time
	Findings []string // what a person has to look into, first on the page
	Last     []stepItem
	Look     []pageLink
	Paths    []pagePath
	Sections []string

	region   string
	services map[string]string // URLs that the client reaches, by service
}

// pageLink leads to another page.
type pageLink struct{ Title, URL string }

// pagePath is a place in S3.
type pagePath struct{ Name, URI, Holds string }

// newPage prepares a status for display. services maps services to the URLs at which a
// forwarder between the browser and the server makes them reachable.
func newPage(s Status, config Config, services map[string]string, now time.Time) page {
	p := page{
		Status: s, Read: now.UTC(), Sections: Sections(), Paths: pathsOf(s.S3Paths), region: config.Region, services: services,
	}
	p.Findings = findings(s)
	p.Steps = p.withTimelines(s.Steps, config.StepLinks)
	p.Last = p.steps(config.StepLinks)
	p.Look = p.pages(config.Dashboards)
	return p
}

// findings lists what is not as it should be: what could not be read, and the troubles.
func findings(s Status) []string { return append(slices.Clone(s.Problems), s.troubles()...) }

// Down lists the workloads that are not ready, with the reasons; none that do not run here.
func (s Status) Down() []string {
	var down []string
	for _, w := range s.Workloads {
		if !w.Ready && w.Absent == "" {
			down = append(down, fmt.Sprintf("%s is not ready: %s", w.Name, w.Reason))
		}
	}
	return down
}

// troubles lists what is known not to be as it should: workloads that are not ready,
// clusters that ended with errors, and nodes that lack a part.
func (s Status) troubles() []string {
	found := s.Down()
	if h := s.History; h != nil && h.Last != nil && h.Last.Result == serve.Failed {
		found = append(found, "the profiler's last run failed: "+h.Last.Error)
	}
	for _, schedule := range s.Schedules {
		found = append(found, schedule.troubles(time.Now())...)
	}
	for _, c := range s.Clusters {
		if c.State == types.ClusterStateTerminatedWithErrors {
			found = append(found, fmt.Sprintf("cluster %s (%s) ended with errors: %s", c.Name, c.ID, cmp.Or(c.Reason, "EMR gives no reason")))
		}
	}
	for _, node := range s.Nodes {
		switch summary := s.Outcome(node); {
		case summary == string(BootstrapUnknown):
			found = append(found, fmt.Sprintf("node %s of %s has sent no report of its bootstrap action", node.Host, s.NameOf(node.Cluster)))
		case strings.HasPrefix(summary, string(BootstrapPartial)):
			found = append(found, fmt.Sprintf("node %s of %s: its bootstrap action is %s", node.Host, s.NameOf(node.Cluster), summary))
		}
	}
	return found
}

// pages are the dashboards and the pages of the servers that the client reaches.
func (p page) pages(dashboards []Link) []pageLink {
	links := p.resolve(dashboards, nil)
	for _, w := range platform.Workloads() {
		if url := p.URL(w.Name); url != "" && w.Name != platform.WorkloadStatus {
			links = append(links, pageLink{w.Page.Title, url})
		}
	}
	for _, known := range []pageLink{
		{"Spark history", platform.ServiceSparkHistory}, {"YARN ResourceManager", platform.ServiceResourceManager},
	} {
		if url, reached := p.services[known.URL]; reached {
			links = append(links, pageLink{known.Title, url})
		}
	}
	return links
}

// variable matches a variable in the path of a Link.
var variable = regexp.MustCompile(`\$\{\w+\}`)

// resolve returns the URLs of links: for each title the first whose variables have
// values, as a URL has them, and whose server the client reaches.
func (p page) resolve(links []Link, variables map[string]string) []pageLink {
	var out []pageLink
	for _, link := range links {
		known := true
		path := variable.ReplaceAllStringFunc(link.Path, func(name string) string {
			value := variables[strings.Trim(name, "${}")]
			known = known && value != ""
			return value
		})
		base := p.base(link.Service)
		if !known || base == "" || slices.ContainsFunc(out, func(l pageLink) bool { return l.Title == link.Title }) {
			continue
		}
		out = append(out, pageLink{link.Title, base + path})
	}
	return out
}

// base is the URL at which the client reaches a service, "" if it does not. On AWS
// operators reach Grafana, which may not run, and the console. Behind a forwarder
// there may be no AWS account.
func (p page) base(name platform.Workload) string {
	switch {
	case name == platform.ServiceConsole && len(p.services) == 0:
		return platform.ConsoleURL(p.region)
	case name == platform.WorkloadStatus && len(p.services) == 0:
		return strings.TrimSuffix(p.Control.StatusURL, "/")
	case name != platform.WorkloadGrafana:
		return p.services[string(name)]
	case slices.ContainsFunc(p.Workloads, func(w Workload) bool { return w.Name == name && w.Ready }):
		return strings.TrimSuffix(p.Control.GrafanaURL, "/")
	}
	return ""
}

// URL is where the client looks at a workload, "" if it does not reach it.
func (p page) URL(name platform.Workload) string {
	record, err := platform.Workloads().Get(name)
	base := p.base(name)
	if err != nil || base == "" || record.Page.Path == "" {
		return ""
	}
	return base + record.Page.Path
}

// Age is how long ago a time was.
func (p page) Age(at time.Time) string {
	return brief(p.Read.Sub(at)) + " ago"
}

// Stamp writes a time for the element <time>.
func (p page) Stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// NextLine says when a schedule starts next.
func (p page) NextLine(s Schedule) string { return s.nextLine() }

// ClusterKind returns the style of a cluster's state.
func (p page) ClusterKind(c Cluster) string {
	switch c.State {
	case types.ClusterStateTerminatedWithErrors:
		return "bad"
	case types.ClusterStateRunning, types.ClusterStateWaiting:
		return "good"
	}
	return ""
}

// HistoryLine describes the profiler's last and next run.
func (p page) HistoryLine() string { return historyLine(p.History, p.Read) }

// Unread lists what the profiler's last run could not read.
func (p page) Unread() []serve.Missing {
	if p.History == nil || p.History.Last == nil {
		return nil
	}
	return p.History.Last.Incomplete
}

// Subject names something that could not be read.
func (page) Subject(m serve.Missing) string {
	return strings.TrimSpace(m.Cluster + " " + m.Application)
}

// pathsOf lists the S3 paths with what they hold.
func pathsOf(paths platform.S3Paths) []pagePath {
	var out []pagePath
	value := reflect.ValueOf(paths)
	for _, field := range reflect.VisibleFields(value.Type()) {
		out = append(out, pagePath{field.Tag.Get("json"), value.FieldByIndex(field.Index).String(), field.Tag.Get("help")})
	}
	return out
}

// writePage renders a template of this package and writes it. It is rendered first, so that an
// error does not end the page in the middle.
func writePage(w http.ResponseWriter, source string, shown any) {
	var body bytes.Buffer
	layout, err := template.New("page").Parse(source)
	if err == nil {
		err = layout.Execute(&body, shown)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("render the page: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = body.WriteTo(w) // fails only if the client is gone
}

func writeStyle(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(pageCSS) // fails only if the client is gone
}
