package outputs

import (
	"fmt"
	"reflect"
	"strings"
)

// flat lists the outputs that stand on their own beside the object.
func flat() []string {
	return []string{DataBucket, S3Paths, ControlInstanceID, ControlPrivateIP, EMRClusterID, EMRMasterDNS, GrafanaURL, StatusURL}
}

// Names lists every output of the stack.
func Names() []string { return append(flat(), Observatory, Kubeconfig, GrafanaPassword) }

// Reference renders docs/reference/outputs.md.
func Reference() []byte {
	alone := map[string]bool{}
	for _, n := range flat() {
		alone[n] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Stack outputs

Rendered from package stacks/outputs; edit the struct there and run `+"`make generate`"+`.

The output `+"`%s`"+` is one object of schema version %d: read it with `+"`outputs.Read`"+` from another Pulumi program (examples/consumer) or with `+"`pulumi stack output %s --json`"+`.
Keys marked "flat" are outputs of their own as well.

| Key of `+"`%s`"+` | Flat | Meaning |
|---|---|---|
`, Observatory, SchemaVersion, Observatory, Observatory)
	t := reflect.TypeFor[Outputs]()
	for i := range t.NumField() {
		mark := ""
		if alone[t.Field(i).Tag.Get("json")] {
			mark = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Field(i).Tag.Get("json"), mark, t.Field(i).Tag.Get("help"))
	}
	fmt.Fprintf(&b, `
| Secret output | Meaning |
|---|---|
| `+"`%s`"+` | Administrator's kubeconfig of the control node. |
| `+"`%s`"+` | Password of Grafana's user admin. |
`, Kubeconfig, GrafanaPassword)
	return []byte(b.String())
}
