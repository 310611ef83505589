package architecture

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/emr-observatory/emr-observatory"

// layer is a folder, and what the packages below it may import of this module. The
// layer with the longest matching folder applies.
type layer struct {
	folder  string
	imports []string // folders, with all below them; its own is always allowed
	strict  bool     // tests obey the same rule
	pure    bool     // imports nothing of Pulumi
}

// layers lists each folder after those that it may import.
func layers() []layer {
	program := []string{"components", "observe", "artifacts", "assets", "dashboards", "status", "redelivery", "schedule", "schema", "cost",
		"platform"}
	everything := append([]string{
		"localcloud", "toolchain", "simulator", "stacks", "submit", "eventlog", "phases", "profiler", "report", "rules", "tempowal", "verdict",
		"examples/jobs", "explain",
		"internal/basicauth",
		"internal/engine", "internal/local", "internal/plaintext", "internal/poll", "internal/processes", "internal/progress",
		"internal/rehearsal", "internal/bench", "internal/stepcause", "internal/steplog",
	}, program...)
	support := append([]string{"internal/airflowtest", "internal/browser", "internal/recorder", "internal/sparktest", "internal/trial",
		"tests"}, everything...)
	return []layer{
		{folder: "platform", strict: true, pure: true},
		{folder: "rules", pure: true},
		{folder: "schedule", strict: true, pure: true},
		{folder: "schema", strict: true, pure: true, imports: []string{"schedule", "platform", "internal/testenv/issuer"}},
		{folder: "schema/facts/refresh", pure: true, imports: []string{"schema", "toolchain", "internal/poll", "platform"}},
		{folder: "cost", pure: true, imports: []string{"schedule", "schema", "platform"}},
		{folder: "explain", pure: true, imports: []string{"cost", "observe", "schema", "platform"}},
		{folder: "internal/testenv/issuer", strict: true, pure: true},
		{folder: "internal/poll", strict: true, pure: true},
		{folder: "internal/statefile", strict: true, pure: true},
		{folder: "internal/basicauth", strict: true, pure: true, imports: []string{"platform"}},
		{folder: "internal/keptlogs", strict: true, pure: true},
		{folder: "internal/stepcause", strict: true, pure: true},
		{folder: "internal/steplog", strict: true, pure: true, imports: []string{"internal/stepcause", "platform"}},
		{folder: "internal/processes", imports: []string{"localcloud"}},
		{folder: "internal/plaintext", strict: true, pure: true},
		{folder: "internal/progress", strict: true, pure: true},
		{folder: "internal/testenv", strict: true, pure: true, imports: []string{"internal/poll"}},
		{folder: "internal/airflowtest", strict: true, pure: true, imports: []string{"internal/poll", "internal/testenv"}},
		{folder: "internal/browser", strict: true, pure: true, imports: []string{"internal/poll", "internal/testenv", "toolchain"}},
		{folder: "assets", pure: true, imports: []string{"status", "schema", "platform"}},
		{folder: "artifacts", pure: true, imports: []string{"assets", "platform"}},
		{folder: "redelivery", pure: true, imports: []string{"internal/poll", "platform"}},
		{folder: "tempowal", pure: true, imports: []string{"platform"}},
		{folder: "eventlog", pure: true, imports: []string{"platform"}},
		{folder: "phases", pure: true, imports: []string{"eventlog", "platform"}},
		{folder: "profiler", pure: true, imports: []string{
			"internal/basicauth", "internal/plaintext", "internal/poll", "internal/progress", "internal/steplog",
			"eventlog", "phases", "report", "rules", "schema/facts", "platform",
		}},
		{folder: "profiler/tables", pure: true, strict: true},
		{folder: "profiler/serve", pure: true, strict: true, imports: []string{"internal/basicauth", "platform"}},
		{folder: "report", pure: true, imports: []string{"rules", "platform"}},
		{folder: "verdict", pure: true, imports: []string{"rules", "platform"}},
		{folder: "status", pure: true, imports: []string{
			"internal/basicauth", "internal/poll", "internal/statefile", "internal/stepcause", "phases", "profiler/serve", "report", "rules",
			"schedule", "verdict", "platform",
		}},
		{folder: "internal/sparktest", strict: true, pure: true, imports: []string{"internal/poll", "internal/testenv", "toolchain"}},
		{folder: "internal/storetest", pure: true, imports: []string{"internal/testenv", "toolchain", "platform"}},
		{folder: "status/statustest", pure: true, imports: []string{"internal/storetest", "status", "platform"}},
		{folder: "submit", pure: true, imports: []string{"internal/poll", "internal/stepcause", "internal/steplog", "status", "platform"}},
		{folder: "dashboards", pure: true, imports: []string{"internal/poll", "profiler/serve", "redelivery", "rules", "schema", "platform"}},
		{folder: "observe", strict: true, pure: true, imports: []string{"schema", "platform"}},
		{folder: "observe/pulumiemr", imports: []string{"observe", "platform"}},
		{folder: "observe/check", pure: true, imports: []string{"observe", "schema/facts", "platform"}},
		{folder: "observe/runjobflow", pure: true, imports: []string{"observe", "schema", "platform"}},
		{folder: "observe/snippet", pure: true, imports: []string{"observe", "platform"}},
		{folder: "components", imports: []string{"observe", "assets", "dashboards", "profiler/tables", "status", "schema", "platform"}},
		{folder: "stacks", imports: program},
		{folder: "stacks/config", imports: []string{"cost", "schema", "platform"}},
		{folder: "stacks/outputs", imports: []string{"observe", "schema", "platform"}},
		{folder: "stacks/changes", imports: []string{"platform"}},
		{folder: "simulator", strict: true, imports: []string{"schedule"}},
		{folder: "toolchain", pure: true, strict: true, imports: []string{"internal/poll", "internal/testenv", "platform"}},
		{folder: "localcloud", strict: true, imports: []string{
			"internal/poll", "internal/statefile", "internal/testenv", "schedule", "simulator", "toolchain", "platform",
		}},
		{folder: "internal/engine", imports: everything},
		{folder: "internal/local", imports: everything},
		{folder: "internal/rehearsal", imports: everything},
		{folder: "internal/bench", imports: everything},
		{folder: "internal/recorder"},
		{folder: "internal/trial", imports: support},
		{folder: "tests", imports: support},
		{folder: "examples/consumer", imports: []string{"observe/pulumiemr", "stacks/outputs"}},
		{folder: "examples/jobs", pure: true},
		{folder: "cmd/observatory-control", pure: true, imports: []string{"internal/basicauth", "redelivery", "status", "tempowal", "platform"}},
		{folder: "cmd/observatory-profiler", pure: true, imports: []string{"profiler", "internal/plaintext", "internal/progress", "platform"}},
		{folder: "cmd", imports: everything},
		{folder: ".", imports: []string{"stacks"}},
	}
}

// forbiddenImports lists the imports that no layer allows.
func forbiddenImports(files []source) []string {
	var violations []string
	for _, file := range files {
		own := layerOf(file.folder())
		for _, spec := range file.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has rejected it
			}
			if reason := own.forbids(name, file.isTest()); reason != "" {
				violations = append(violations, fmt.Sprintf("%s imports %s: %s", file.position(spec), name, reason))
			}
		}
	}
	return violations
}

// forbids returns the reason why the layer must not import a package, or "".
func (l layer) forbids(name string, test bool) string {
	if test && !l.strict {
		return ""
	}
	if l.pure && (strings.HasPrefix(name, "github.com/pulumi/") || strings.HasPrefix(name, "github.com/pulumiverse/")) {
		return l.folder + " must not depend on Pulumi"
	}
	if name != module && !within(module, name) {
		return ""
	}
	folder := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
	allows := func(in string) bool { return in == folder || within(in, folder) }
	if allows(l.folder) || slices.ContainsFunc(l.imports, allows) {
		return ""
	}
	return fmt.Sprintf("%s may import %s", l.folder, strings.Join(append([]string{"itself"}, l.imports...), ", "))
}

// layerOf returns the layer with the longest folder that contains folder.
func layerOf(folder string) layer {
	best := layer{folder: "."}
	for _, l := range layers() {
		if l.folder == "." && folder == "." {
			return l
		}
		if (l.folder == folder || within(l.folder, folder)) && (best.folder == "." || len(l.folder) > len(best.folder)) {
			best = l
		}
	}
	return best
}

func within(parent, child string) bool { return strings.HasPrefix(child, parent+"/") }
