// Package servers builds the servers that the local cloud runs into a cache,
// each from its own Go module at the version that platform.Workloads pins. It
// does not start servers, and it downloads no binaries.
//
// The module files are modules/<name>.mod and .sum. They are embedded, so the
// package works from any directory. The OpenTelemetry Collector Builder
// generated the sources in _collector from _collector/manifest.yaml.
//
// To change a version: copy modules/<name>.mod and .sum to an empty directory as
// go.mod and go.sum, run `go get -tool <package>@<version>` there, and copy both
// back. The tests compare the version with platform.Workloads.
package servers

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"path"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/emr-observatory/emr-observatory/platform"
)

//go:embed modules/*.mod modules/*.sum _collector/*.go _kubernetesprovider/*.go
var modules embed.FS

// Names of the servers that are not a platform.Workload.
const (
	VersityGW = "versitygw"
	Pulumi    = "pulumi"

	// Etcd and KubeAPIServer validate the program's Kubernetes objects in tests. The
	// local cloud does not run them, so List does not include them.
	Etcd          = "etcd"
	KubeAPIServer = "kube-apiserver"

	// KubeControllerManager and KWOK make Deployments into ready pods, without a
	// kubelet, for the test of KubernetesProvider: the plugin of pulumi-kubernetes, which
	// the engine starts by this name. Only `make test-long` builds them.
	KubeControllerManager = "kube-controller-manager"
	KWOK                  = "kwok"
	KubernetesProvider    = "pulumi-resource-kubernetes"
)

// Server describes how one binary is built.
type Server struct {
	Name    string            // the binary's file name; for a workload, its platform.Workload
	Package string            // the main package, as an argument of go build
	Module  string            // the module whose version is Version
	Version string            // of Module, as the .mod file requires it
	Release string            // the version of the release, without a leading v
	LDFlags string            // added to -s -w
	Sources map[string][]byte // files beside go.mod; empty if Package is part of Module
	modFile string            // of go.mod and go.sum in modules, without the extension
}

// recipe has what is needed to build a server in addition to its .mod file.
type recipe struct {
	name, module, pkg string
	release           string // only if it differs from the module's version
	ldflags           string // %s is the release
	sources           string // embedded folder
	mod               string // whose .mod and .sum file it has; only if not its own
	forTests          bool   // not run by the local cloud
}

// recipes lists the servers in the order of List. Tempo's v2 tags are not valid
// versions of its module path, which lacks /v2, so its .mod requires the commit of
// tag v2.9.0. Neither does the proxy have a release of pulumi-kubernetes' provider: its
// .mod requires the newest commit that the proxy has. kube-apiserver.mod is of all of
// Kubernetes' servers.
func recipes() []recipe {
	const pulumiSDK = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
	const victoriaVersion = "github.com/VictoriaMetrics/VictoriaMetrics/lib/buildinfo.Version"
	const kubeVersion = "k8s.io/component-base/version.gitVersion"
	return []recipe{
		{name: VersityGW, module: "github.com/versity/versitygw", pkg: "cmd/versitygw", ldflags: "-X main.Version=v%s"},
		{name: Pulumi, module: "github.com/pulumi/pulumi/pkg/v3", pkg: "cmd/pulumi", ldflags: "-X " + pulumiSDK + "=v%s"},
		{
			name: string(platform.WorkloadVictoriaMetrics), module: "github.com/VictoriaMetrics/VictoriaMetrics",
			pkg: "app/victoria-metrics", ldflags: "-X " + victoriaVersion + "=victoria-metrics-v%s",
		},
		{
			name: string(platform.WorkloadVictoriaLogs), module: "github.com/VictoriaMetrics/VictoriaLogs", pkg: "app/victoria-logs",
			ldflags: "-X " + victoriaVersion + "=victoria-logs-v%s",
		},
		{
			name: string(platform.WorkloadTempo), module: "github.com/grafana/tempo", pkg: "cmd/tempo", release: "2.9.0",
			ldflags: "-X main.Version=%s",
		},
		{
			name: string(platform.WorkloadPyroscope), module: "github.com/grafana/pyroscope", pkg: "cmd/pyroscope",
			ldflags: "-X github.com/grafana/pyroscope/pkg/util/build.Version=%s",
		},
		{
			name: string(platform.WorkloadYACE), module: "github.com/prometheus-community/yet-another-cloudwatch-exporter",
			pkg: "cmd/yace", ldflags: "-X github.com/prometheus/common/version.Version=%s", forTests: true,
		},
		{
			name:   string(platform.WorkloadCollector),
			module: "github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor", sources: "_collector",
		},
		{name: Etcd, module: "go.etcd.io/etcd/server/v3", forTests: true},
		{
			name: KubeAPIServer, module: "k8s.io/kubernetes", pkg: "cmd/kube-apiserver", ldflags: "-X " + kubeVersion + "=v%s",
			forTests: true,
		},
		{
			name: KubeControllerManager, module: "k8s.io/kubernetes", pkg: "cmd/kube-controller-manager",
			ldflags: "-X " + kubeVersion + "=v%s", mod: KubeAPIServer, forTests: true,
		},
		{name: KWOK, module: "sigs.k8s.io/kwok", pkg: "cmd/kwok", forTests: true},
		{
			name: KubernetesProvider, module: "github.com/pulumi/pulumi-kubernetes/provider/v4", ldflags: "-X main.release=%s",
			sources: "_kubernetesprovider", forTests: true,
		},
	}
}

// List returns the servers of the local cloud in the best order for building all of
// them: those that others wait for come first.
func List() ([]Server, error) {
	var out []Server
	for _, r := range recipes() {
		if r.forTests {
			continue
		}
		s, err := r.server()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Get returns the server with that name.
func Get(name string) (Server, error) {
	var known []string
	for _, r := range recipes() {
		if r.name == name {
			return r.server()
		}
		known = append(known, r.name)
	}
	return Server{}, fmt.Errorf("unknown server %q; use one of %s", name, strings.Join(known, ", "))
}

// server reads the .mod file and returns the server.
func (r recipe) server() (Server, error) {
	file := "modules/" + cmp.Or(r.mod, r.name)
	mod, err := modules.ReadFile(file + ".mod")
	if err != nil {
		return Server{}, fmt.Errorf("read module of server %s: %w", r.name, err)
	}
	parsed, err := modfile.Parse(file+".mod", mod, nil)
	if err != nil {
		return Server{}, fmt.Errorf("parse module of server %s: %w", r.name, err)
	}
	s := Server{Name: r.name, Module: r.module, Package: ".", Release: r.release, modFile: file}
	for _, req := range parsed.Require {
		if req.Mod.Path == r.module {
			s.Version = req.Mod.Version
		}
	}
	if s.Version == "" {
		return Server{}, fmt.Errorf("find version of server %s: its module does not require %s", r.name, r.module)
	}
	if s.Release == "" {
		s.Release = strings.TrimPrefix(s.Version, "v")
	}
	if r.ldflags != "" {
		s.LDFlags = fmt.Sprintf(r.ldflags, s.Release)
	}
	if r.sources == "" {
		s.Package = path.Join(r.module, r.pkg)
		return s, nil
	}
	s.Sources, err = sources(r.sources)
	return s, err
}

// sources returns the files of an embedded folder by name.
func sources(dir string) (map[string][]byte, error) {
	entries, err := modules.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list sources in %s: %w", dir, err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		body, err := modules.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read source %s: %w", e.Name(), err)
		}
		out[e.Name()] = body
	}
	return out, nil
}

// files returns what go build reads in the module's folder, by name.
func (s Server) files() (map[string][]byte, error) {
	out := map[string][]byte{}
	maps.Copy(out, s.Sources)
	for from, to := range map[string]string{".mod": "go.mod", ".sum": "go.sum"} {
		body, err := modules.ReadFile(s.modFile + from)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", to, s.Name, err)
		}
		out[to] = body
	}
	return out, nil
}
