package config

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// formerCluster is the key that described a stack's only cluster before there could be
// several.
const formerCluster = "emr"

// refuseFormerCluster refuses the key with the lines to write instead. value is its
// JSON, "" if it is not known.
func refuseFormerCluster(l *violation.List, value string) {
	l.Require(false, formerCluster, violation.Unknown, "is no longer a key: a stack has any number of clusters, each under a key of its own",
		"write these lines instead (the cluster is replaced, the control node and its data stay):\n"+clustersLines(value))
}

// clustersLines renders the lines of a stack file that replace the former key's. The
// cluster is named main.
func clustersLines(value string) string {
	cluster := map[string]any{}
	if err := json.Unmarshal([]byte(value), &cluster); err != nil || len(cluster) == 0 {
		cluster = map[string]any{"releaseLabel": "emr-7.10.0"}
	}
	if task, given := cluster["task"]; given { // there was one group at most
		delete(cluster, "task")
		if task != nil {
			cluster["tasks"] = map[string]any{"task": task}
		}
	}
	lines := map[string]any{}
	for _, shared := range []string{"architectures", "blockPublicAccess"} { // settings of the whole stack now
		if v, given := cluster[shared]; given {
			lines[namespace+shared] = v
			delete(cluster, shared)
		}
	}
	lines[namespace+"clusters"] = map[string]any{"main": cluster}
	var text strings.Builder
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(lines); err != nil {
		return "  " + namespace + "clusters: {main: " + value + "}"
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(text.String()), "\n", "\n  ")
}
