package outputs

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Reference renders docs/reference/outputs.md.
func Reference() []byte {
	alone := map[string]bool{}
	for _, n := range flat() {
		alone[n] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Stack outputs

Rendered from package stacks/outputs; edit the struct there and run `+"`make generate`"+`.

The output `+"`%s`"+` is one object of schema version %d: read it with `+"`outputs.Refer`"+` from another Pulumi program `+
		"(examples/consumer) or with `pulumi stack output %s --json`"+`.
The version is incremented when a key is removed, renamed, or changes its type or meaning, but not for a new key. `+
		`A reader of another version stops with an error that says which side to update.
Keys marked "flat" are outputs of their own as well.

| Key of `+"`%s`"+` | Type | Flat | Meaning |
|---|---|---|---|
`, Observatory, SchemaVersion, Observatory, Observatory)
	for _, f := range fields() {
		mark := ""
		if alone[f.path] {
			mark = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.path, f.typ, mark, f.help)
	}
	fmt.Fprintf(&b, `
| Secret output | Meaning |
|---|---|
| `+"`%s`"+` | Administrator's kubeconfig of the control node. |
| `+"`%s`"+` | Password of Grafana's user admin. |
| `+"`%s`"+` | Password of the status page's user %s. |
| `+"`%s`"+` | Bearer token of the tools; empty without the profiler. |
`, Kubeconfig, GrafanaPassword, StatusPassword, platform.StatusUser, ToolsToken)
	return []byte(b.String())
}
