package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Row is one edit and its observed effects.
type Row struct {
	Keys    []string // configuration keys that it changes
	Edit    []string // "clusters.main.core.count: 3"
	Plan    Plan
	Err     error // of the engine or the program; nil = the preview succeeded
	Refusal error // of a Guard
}

// Reference renders docs/reference/changes.md from previewed edits.
func Reference(rows []Row) []byte {
	var b strings.Builder
	b.WriteString(`# What an edit does

` + "`make generate` writes this page: the tests of stacks/changes preview each edit of `Pulumi.dev.yaml`, with a task group added, " +
		`on the real engine. Edits of the clusters ` + "`rules`, `fleets` and `growing`" +
		` begin with a stack that has those clusters beside main:
rules has instance groups that scale by rules, fleets has instance fleets with managed scaling, growing has fleets without task nodes.

Resources go by their logical names. If an edit affects many resources of a component, the table says "much of" it.
"Refused" lists what a guarded update refuses, and for a cluster in brackets how it gets what was edited without being replaced.
A plain ` + "`pulumi up`" +
		` makes these changes after its preview, except to protected resources, which stop it too.
What is not listed stays: a new control-instance, for example, has the data volume and the addresses of the old one ` +
		"([control-node.md](../guides/control-node.md))" + `.
"Known only during the update" means that the resource's provider waits for another resource that is replaced, such as the control node.

| Key | Edit | Effect | Refused |
|---|---|---|---|
`)
	for _, r := range rows {
		var effects []string
		for _, e := range Effects() {
			if names := r.Plan.Names(e); len(names) > 0 {
				if e != Restarted {
					names = summarize(names)
				}
				effects = append(effects, string(e)+": "+strings.Join(names, ", "))
			}
		}
		if len(effects) == 0 && r.Err == nil {
			effects = append(effects, "nothing on AWS or Kubernetes")
		}
		if len(effects) == 0 {
			effects = append(effects, "the program stops before it registers anything")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", strings.Join(r.Keys, "`, `"), strings.Join(r.Edit, "`, `"),
			strings.Join(effects, "; "), refusalText(r))
	}
	return []byte(b.String())
}

// summarize shortens a list of names: many of one component become "much of" it,
// without a count, which would change with every new resource.
func summarize(names []string) []string {
	const many = 4
	count := map[string]int{}
	component := func(name string) string { c, _, _ := strings.Cut(name, "-"); return c }
	for _, n := range names {
		count[component(n)]++
	}
	var out []string
	for _, n := range names {
		c := component(n)
		if count[c] <= many {
			out = append(out, n)
		} else if summary := "much of " + c; !slices.Contains(out, summary) {
			out = append(out, summary)
		}
	}
	return out
}

// refusalText formats the refusals of an edit, each rule once.
func refusalText(r Row) string {
	reasons := map[string][]string{}
	var order []string
	for _, e := range joinedErrors(r.Refusal) {
		var refusal *Refusal
		if !errors.As(e, &refusal) {
			continue
		}
		rule := refusal.Rule
		if way := inPlace(refusal.Change); way != "" {
			rule += " (" + way + ")"
		}
		if reasons[rule] == nil {
			order = append(order, rule)
		}
		reasons[rule] = append(reasons[rule], refusal.Change.Name)
	}
	slices.Sort(order)
	var out []string
	for _, rule := range order {
		slices.Sort(reasons[rule])
		out = append(out, strings.Join(reasons[rule], ", ")+" "+rule)
	}
	if r.Err != nil && len(out) == 0 {
		_, first, _ := strings.Cut(r.Err.Error(), "* ") // as Go programs report their errors to the engine
		first, _, _ = strings.Cut(first, "\n")
		out = append(out, first)
	}
	return strings.ReplaceAll(strings.Join(out, "; "), "|", `\|`)
}

// joinedErrors returns the errors that errors.Join joined.
func joinedErrors(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}
