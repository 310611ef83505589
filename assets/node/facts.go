package node

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/emr-observatory/emr-observatory/platform"
)

// facts are platform's constants under the names that templates use.
type facts map[string]any

func newFacts() facts {
	return facts{
		"NodeCollectorBinary": platform.NodeCollectorBinary,
		"NodeCollectorConfig": platform.NodeCollectorConfig,
		"NodeCollectorEnv":    platform.NodeCollectorEnv,
		"NodeCollectorUnit":   platform.NodeCollectorUnit,
		"NodeLauncherJar":     platform.NodeLauncherJar,
		"NodeQueueDir":        platform.NodeQueueDir,
		"NodeReportFile":      platform.NodeReportFile,
		"NodeReportMetrics":   platform.NodeReportMetrics,
		"EMRInfoDir":          platform.EMRInfoDir,
		"HostsOnly":           platform.BootstrapHostsOnly,

		"CollectorHealth":   platform.CollectorHealth,
		"CollectorMetrics":  platform.CollectorMetrics,
		"OTLPGRPC":          platform.OTLPGRPC,
		"OTLPHTTP":          platform.OTLPHTTP,
		"NodeManagerUI":     platform.NodeManagerUI,
		"ResourceManagerUI": platform.ResourceManagerUI,
		"DataNodeUI":        platform.DataNodeUI,
		"NameNodeUI":        platform.NameNodeUI,

		"Cluster":            platform.Cluster,
		"NodeRole":           platform.NodeRole,
		"HostName":           platform.HostName,
		"ServiceName":        platform.ServiceName,
		"SparkAppID":         platform.SparkAppID,
		"MetricBootstrapUp":  platform.MetricBootstrapUp,
		"BootstrapComponent": platform.BootstrapComponent,

		"RoleMaster": platform.RoleMaster,
		"RoleCore":   platform.RoleCore,
		"RoleTask":   platform.RoleTask,

		"ServiceYARN":          platform.ServiceYARN,
		"ServiceHDFS":          platform.ServiceHDFS,
		"ServiceNodeCollector": platform.ServiceNodeCollector,
		"ServiceBootstrap":     platform.ServiceBootstrap,

		"ComponentCollector": platform.ComponentCollector,
		"ComponentLauncher":  platform.ComponentLauncher,

		"EnvCluster":     platform.EnvCluster,
		"EnvRole":        platform.EnvRole,
		"EnvHost":        platform.EnvHost,
		"EnvControl":     platform.EnvControl,
		"EnvYARNTargets": platform.EnvYARNTargets,
		"EnvHDFSTargets": platform.EnvHDFSTargets,
	}
}

// with returns a copy of f with more.
func (f facts) with(more facts) facts {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// render executes the named template with values. It fails if the template uses a fact
// that values lacks.
func render(name string, values facts) ([]byte, error) {
	functions := template.FuncMap{
		"env": func(variable string) string { return "${env:" + variable + "}" },
		// quote is a YAML scalar in single quotes, where nothing is escaped.
		"quote": func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" },
		"join":  func(list []string) string { return strings.Join(list, ", ") },
	}
	t, err := template.New(name).Funcs(functions).Option("missingkey=error").ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, fmt.Errorf("parse template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}
