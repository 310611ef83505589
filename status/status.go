package status

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// SchemaVersion counts changes of Status that break its readers.
const SchemaVersion = 1

// Status is the answer of /status.
type Status struct {
	SchemaVersion int                          `json:"schemaVersion"`
	S3Paths       platform.S3Paths             `json:"s3Paths"`
	Control       Control                      `json:"control"`
	Clusters      []Cluster                    `json:"clusters"`
	Nodes         []Node                       `json:"nodes"`
	Bootstrap     []Bootstrap                  `json:"bootstrap"`
	Workloads     []Workload                   `json:"workloads"`
	Endpoints     map[platform.Workload]string `json:"endpoints"` // workload to its URL inside the control node's cluster, as the stack output of that name
	Problems      []string                     `json:"problems"`  // what could not be found out
}

// Control is the control node, and where it answers the VPC.
type Control struct {
	PrivateIP  string `json:"privateIp"`
	OTLP       string `json:"otlp"` // address:port of OTLP over gRPC
	GrafanaURL string `json:"grafanaUrl"`
	StatusURL  string `json:"statusUrl"`
}

// Node is a host that sent metrics within Window, or whose collector could not
// be installed within the last day: that is all that such a host ever tells.
type Node struct {
	Cluster    string                          `json:"cluster"`
	Role       string                          `json:"role"`
	Host       string                          `json:"host"`
	LastSeen   time.Time                       `json:"lastSeen"`   // when it was last heard of
	Components map[platform.NodeComponent]bool `json:"components"` // what the bootstrap installed: true is up
}

// Workload is a workload of the control node as its readiness URL tells.
type Workload struct {
	Name   platform.Workload `json:"name"`
	Ready  bool              `json:"ready"`
	Reason string            `json:"reason,omitempty"` // why it is not
}

// ErrSection is the error of a section that Status does not have.
var ErrSection = errors.New("no such section")

// Sections are the parts that can be asked for alone: all but the version.
func Sections() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Status]()) {
		if name := field.Tag.Get("json"); name != "schemaVersion" {
			names = append(names, name)
		}
	}
	return names
}

// Section gives one part of the status.
func (s Status) Section(name string) (any, error) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Status]()) {
		if field.Tag.Get("json") == name && slices.Contains(Sections(), name) {
			return reflect.ValueOf(s).FieldByIndex(field.Index).Interface(), nil
		}
	}
	return nil, fmt.Errorf("section %q: %w; there are %q", name, ErrSection, Sections())
}

// Read asks everything at once and waits at most patience for each answer. It
// does not fail: what does not answer is what the status is about.
func Read(ctx context.Context, config Config) Status {
	read := Status{
		SchemaVersion: SchemaVersion, S3Paths: config.S3Paths, Control: config.Control, Nodes: []Node{},
		Workloads: []Workload{}, Endpoints: map[platform.Workload]string{}, Problems: []string{},
	}
	var asking sync.WaitGroup
	var lock sync.Mutex
	for name, endpoint := range config.Endpoints {
		read.Endpoints[name] = endpoint.URL
		if name == platform.WorkloadStatus {
			continue // it answers, or nobody reads this
		}
		asking.Go(func() {
			workload := probe(ctx, name, endpoint)
			lock.Lock()
			defer lock.Unlock()
			read.Workloads = append(read.Workloads, workload)
		})
	}
	asking.Go(func() {
		nodes, err := readNodes(ctx, config.Endpoints[platform.WorkloadVictoriaMetrics].URL)
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			read.Problems = append(read.Problems, err.Error())
			return
		}
		read.Nodes = nodes
	})
	asking.Wait()
	read.Clusters, read.Bootstrap = clustersOf(read.Nodes), bootstrapOf(read.Nodes)
	slices.SortFunc(read.Workloads, func(a, b Workload) int { return compare(a.Name, b.Name) })
	return read
}
