package platform

import "fmt"

// NodeComponent names a part that the bootstrap action installs; it is the
// `component` label of observatory_bootstrap_component_up. Letters, digits and
// underscores: the bootstrap action has variables and functions of this name.
type NodeComponent string

// Names of the parts that other code refers to; NodeParts has a record for each.
const (
	ComponentCollector NodeComponent = "collector"
	ComponentLauncher  NodeComponent = "launcher"
	ComponentProfiler  NodeComponent = "profiler"
	ComponentPlugin    NodeComponent = "plugin"
	ComponentConnect   NodeComponent = "connect"
)

// Names of the artifacts that other code refers to, see package artifacts.
const (
	ArtifactLauncher = "launcher.jar"
	ArtifactProfiler = "async-profiler.jar"
	ArtifactPlugin   = "spark-plugin.jar"
	ArtifactConnect  = "connect.jar"
)

// ArtifactCollector returns the name of the node collector's gzipped binary.
func ArtifactCollector(arch string) string { return "otelcol-linux-" + arch + ".gz" }

// NodePart is everything about one part of a node except its configuration
// files. The bootstrap action, the node's facts, the artifact lock, the bootstrap
// report and the status are rendered from it, or checked against it.
type NodePart struct {
	Component NodeComponent

	// Artifact is the file name of the part's artifact for an architecture; ""
	// asks for an artifact that runs on all of them.
	Artifact        func(arch string) string
	PerArchitecture bool // there is one artifact for each architecture
	Source          ArtifactSource

	// Embedded artifacts travel inside the bootstrap action; the others are
	// downloaded from the artifacts prefix.
	Embedded bool

	// OfSpark parts are loaded by Spark's JVMs alone: a cluster that reports its hosts
	// only does not install them.
	OfSpark bool

	Path string // where the artifact is installed, unpacked if it ends in .gz
	Mode string // of Path, octal

	// Facts are what the part reads in NodeFactsFile besides HostLabels.
	Facts []NodeSetting

	// Environment is what the part's process gets from EnvironmentFile.
	Environment     []NodeSetting
	EnvironmentFile NodeFile
}

// NodeSetting is a name and its value on a node: a double-quoted word of the
// bootstrap action, which has the variables cluster, role, host, address (the
// node's IP), control (the control node's IP), yarn and hdfs (ports of the
// node's daemons; each is empty where none is read).
type NodeSetting struct{ Name, Value string }

// NodeFile is a file that the bootstrap action writes.
type NodeFile struct {
	Staged string // name in the bootstrap action's work folder, distinct
	Path   string
}

// ArtifactSource is where an artifact comes from.
type ArtifactSource struct {
	Kind        SourceKind
	Coordinates string // of SourceMaven: group:artifact:version
}

// SourceKind is a way to obtain an artifact.
type SourceKind string

// The kinds.
const (
	SourceMaven     SourceKind = "maven"     // a release on Maven Central
	SourceCollector SourceKind = "collector" // built from assets/node/_collector
	SourceLauncher  SourceKind = "launcher"  // built from assets/node/launcher
	SourcePlugin    SourceKind = "plugin"    // built from assets/node/spark-plugin, against the launcher
	SourceConnect   SourceKind = "connect"   // built from assets/node/connect, against the plugin
)

// Architectures returns the architectures that the part has an artifact for; "" stands for all.
func (p NodePart) Architectures() []string {
	if p.PerArchitecture {
		return Architectures()
	}
	return []string{""}
}

// Variables of the node collector's environment.
const (
	EnvCluster     = "OBSERVATORY_CLUSTER"
	EnvRole        = "OBSERVATORY_ROLE"
	EnvHost        = "OBSERVATORY_HOST"
	EnvControl     = "OBSERVATORY_CONTROL"
	EnvYARNTargets = "OBSERVATORY_YARN_TARGETS" // [ip:port,ip:port], perhaps empty: a YAML list
	EnvHDFSTargets = "OBSERVATORY_HDFS_TARGETS" // likewise
)

// NodeParts returns the parts of an EMR node, in the order of the bootstrap report.
// Each may fail without failing the others. To add a part, add its record here and
// its configuration function to package assets/node, and run `make artifacts-lock`.
func NodeParts() []NodePart {
	return []NodePart{
		{
			Component: ComponentLauncher, Artifact: constant(ArtifactLauncher), Source: ArtifactSource{Kind: SourceLauncher},
			Embedded: true, OfSpark: true, Path: NodeLauncherJar, Mode: "0644",
			Facts: []NodeSetting{{FactControl, "$control"}},
		},
		{
			Component: ComponentCollector, Artifact: ArtifactCollector, PerArchitecture: true,
			Source: ArtifactSource{Kind: SourceCollector}, Path: NodeCollectorBinary, Mode: "0755",
			Environment: []NodeSetting{
				{EnvCluster, "$cluster"}, {EnvRole, "$role"}, {EnvHost, "$host"}, {EnvControl, "$control"},
				{EnvYARNTargets, "[$yarn]"}, {EnvHDFSTargets, "[$hdfs]"},
			},
			EnvironmentFile: NodeFile{"env", NodeCollectorEnv},
		},
		{
			Component: ComponentProfiler, Artifact: constant(ArtifactProfiler),
			Source: ArtifactSource{SourceMaven, "tools.profiler:async-profiler:4.4"}, OfSpark: true, Path: NodeProfilerJar, Mode: "0644",
		},
		{
			Component: ComponentPlugin, Artifact: constant(ArtifactPlugin), Source: ArtifactSource{Kind: SourcePlugin},
			OfSpark: true, Path: NodePluginJar, Mode: "0644",
		},
		{
			Component: ComponentConnect, Artifact: constant(ArtifactConnect), Source: ArtifactSource{Kind: SourceConnect},
			OfSpark: true, Path: NodeConnectJar, Mode: "0644",
		},
	}
}

func constant(name string) func(string) string { return func(string) string { return name } }

// NodeComponents lists the parts in the order of NodeParts.
func NodeComponents() []NodeComponent {
	var components []NodeComponent
	for _, p := range NodeParts() {
		components = append(components, p.Component)
	}
	return components
}

// FindArtifact finds the part, and the architecture, that an artifact is for.
func FindArtifact(parts []NodePart, name string) (part NodePart, arch string, err error) {
	for _, p := range parts {
		for _, arch := range p.Architectures() {
			if p.Artifact(arch) == name {
				return p, arch, nil
			}
		}
	}
	return NodePart{}, "", fmt.Errorf("artifact %s: no part of a node is installed from it", name)
}
