package run

import (
	"fmt"
	"strings"
)

// Reference renders docs/reference/profiler-options.md.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(`# Options of the profiler

Rendered from profiler/run; edit the table there and run ` + "`make generate`" + `.

` + "`observatory-profiler run`" + ` and ` + "`observatory profile run`" + ` take each option as a flag, as an environment
variable, or from a YAML file (` + "`--config FILE`" + `) whose keys are the names of the variables. A flag goes before a
variable, that before the file, and that before the default. An empty variable counts as not set. All violations are
reported at once.

| Variable, key | Flag | Default | Meaning | Rule |
|---|---|---|---|---|
`)
	for _, o := range Table() {
		standard := ""
		if o.Default != "" {
			standard = "`" + o.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `--%s` | %s | %s | %s |\n", o.Name, o.Flag(), standard, o.Doc, o.Rule)
	}
	fmt.Fprintf(&b, `
| Exit code | Meaning |
|---|---|
| %d | All that was asked for is in the tables, or was before. |
| %d | The run failed: nothing could be discovered, or the tables could not be written. |
| %d | The options or arguments are wrong. |
| %d | Something is missing: a cluster or an application could not be read, a limit cut, or the run was interrupted. The summary names it. |
`, ExitComplete, ExitFailed, ExitUsage, ExitIncomplete)
	return []byte(b.String())
}
