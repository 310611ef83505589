package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// SchemaVersion counts changes of Status that break its readers.
const SchemaVersion = 1

// Status is the response of /status.
type Status struct {
	SchemaVersion int                          `json:"schemaVersion"`
	S3Paths       platform.S3Paths             `json:"s3Paths"`
	Control       Control                      `json:"control"`
	Clusters      []Cluster                    `json:"clusters"`
	Steps         []Step                       `json:"steps"`     // the last ones of these clusters, newest first
	Schedules     []Schedule                   `json:"schedules"` // what starts steps by the clock
	Nodes         []Node                       `json:"nodes"`
	Bootstrap     []Bootstrap                  `json:"bootstrap"`
	Workloads     []Workload                   `json:"workloads"`
	Endpoints     map[platform.Workload]string `json:"endpoints"` // workload -> URL inside the cluster, as the stack output of this name
	History       *serve.State                 `json:"history"`   // how the profiler's last run went; null without a profiler
	Problems      []string                     `json:"problems"`  // what could not be determined
}

// Control is the control node, with its addresses in the VPC.
type Control struct {
	PrivateIP  string `json:"privateIp"`
	OTLP       string `json:"otlp"` // address:port of OTLP over gRPC
	GrafanaURL string `json:"grafanaUrl"`
	StatusURL  string `json:"statusUrl"`
}

// Node is a host that sent metrics within Window, or that reported within
// silentWindow that its collector could not be installed.
type Node struct {
	Cluster    string                          `json:"cluster"`
	Role       string                          `json:"role"`
	Host       string                          `json:"host"`
	LastSeen   time.Time                       `json:"lastSeen"`   // when it last sent something
	Components map[platform.NodeComponent]bool `json:"components"` // true: the bootstrap action installed it
}

// Workload is a workload of the control node, according to its readiness URL.
type Workload struct {
	Name   platform.Workload `json:"name"`
	Ready  bool              `json:"ready"`
	Reason string            `json:"reason,omitempty"` // why it is not ready
	Absent string            `json:"absent,omitempty"` // why it does not run where the server runs, as a forwarder has said
}

// ErrSection is the error for a section that Status does not have.
var ErrSection = errors.New("no such section")

// Sections returns the parts that can be requested: all but the version.
func Sections() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Status]()) {
		if name := field.Tag.Get("json"); name != "schemaVersion" {
			names = append(names, name)
		}
	}
	return names
}

// Section returns one part of the status.
func (s Status) Section(name string) (any, error) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Status]()) {
		if field.Tag.Get("json") == name && slices.Contains(Sections(), name) {
			return reflect.ValueOf(s).FieldByIndex(field.Index).Interface(), nil
		}
	}
	return nil, fmt.Errorf("section %q: %w; there are %q", name, ErrSection, Sections())
}

// Source is where the status comes from.
type Source struct {
	Config Config
	Client *http.Client // queries the workloads
	Steps  *StepReader  // nil = no steps

	Clusters *ClusterReader // what EMR says of the clusters; nil = nothing

	Recorders []Recorder // of what EMR says

	LostRuns func() []LostRun // of the stack's schedules; nil = none
	// ScheduledSince returns since when a schedule is as it is, so that its runs can be expected; nil = none is.
	ScheduledSince func(key string) time.Time

	Password string // of platform.StatusUser, with which the profiler is woken; "" = it is not
}

// Recorder records what EMR says as telemetry.
type Recorder interface {
	Problems() []string // what is missing
}

// Read queries workloads, VictoriaMetrics and EMR concurrently, each request with
// requestTimeout. It does not fail: the status says what does not respond.
func (s Source) Read(ctx context.Context) Status {
	config := s.Config
	read := Status{
		SchemaVersion: SchemaVersion, S3Paths: config.S3Paths, Control: config.Control, Nodes: []Node{}, Steps: []Step{},
		Schedules: s.schedules(nil, false, time.Now()), Clusters: []Cluster{},
		Workloads: []Workload{}, Endpoints: map[platform.Workload]string{}, Problems: []string{},
	}
	var requests sync.WaitGroup
	var lock sync.Mutex
	for name, endpoint := range config.Endpoints {
		read.Endpoints[name] = endpoint.URL
		if name == platform.WorkloadStatus {
			continue // this process
		}
		requests.Go(func() {
			workload := s.probe(ctx, name, endpoint)
			lock.Lock()
			defer lock.Unlock()
			read.Workloads = append(read.Workloads, workload)
		})
	}
	requests.Go(func() {
		nodes, err := s.Nodes(ctx)
		if err != nil {
			lock.Lock()
			defer lock.Unlock()
			read.Problems = append(read.Problems, err.Error())
			return
		}
		over, err := s.overLimits(ctx)
		if err != nil {
			over = []string{err.Error()}
		}
		nodes, unlisted := s.withoutUnlisted(nodes)
		clusters := s.clusters(nodes, time.Now())
		steps, schedules, problems := s.readSteps(ctx, s.listed(clusters))
		lock.Lock()
		defer lock.Unlock()
		read.Nodes, read.Clusters, read.Steps, read.Schedules = nodes, clusters, steps, schedules
		read.Problems = append(read.Problems, slices.Concat(unlisted, over, problems)...)
	})
	requests.Go(func() {
		history, err := s.history(ctx)
		lock.Lock()
		defer lock.Unlock()
		read.History = history
		if err != nil {
			read.Problems = append(read.Problems, err.Error())
		}
	})
	requests.Wait()
	for _, recorder := range s.Recorders {
		read.Problems = append(read.Problems, recorder.Problems()...)
	}
	slices.Sort(read.Problems) // both may fail alike
	read.Problems = slices.Compact(read.Problems)
	read.Bootstrap = bootstrapOutcomes(read.Nodes)
	slices.SortFunc(read.Workloads, func(a, b Workload) int { return cmp.Compare(a.Name, b.Name) })
	return read
}

// markAbsent says of workloads why they do not run where the server runs, instead of
// how they do not answer.
func (s Status) markAbsent(reasons map[platform.Workload]string) Status {
	s.Workloads = slices.Clone(s.Workloads)
	for i, w := range s.Workloads {
		if reason := reasons[w.Name]; reason != "" && !w.Ready {
			s.Workloads[i].Reason, s.Workloads[i].Absent = "", reason
		}
	}
	return s
}
