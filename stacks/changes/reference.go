package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Row is one edit that was tried and what came of it.
type Row struct {
	Keys    []string // configuration keys that it is about
	Edit    []string // "emr.core.count: 3"
	Plan    Plan
	Stopped error // the engine's or the program's own no; nil = the preview went through
	Refused error // a Guard's
}

// Reference renders docs/reference/changes.md from edits that were tried.
func Reference(rows []Row) []byte {
	var b strings.Builder
	b.WriteString(`# What an edit does

Rendered by the tests of package stacks/changes, which preview each of these edits of ` + "`Pulumi.dev.yaml`" + ` (with a task group) on the real engine; run ` + "`make generate`" + `.

Resources are told by their logical names; many of one component are told as "much of" it.
"Refused" is what a guarded update says no to, and what a plain ` + "`pulumi up`" + ` would do after its preview; resources that are protected stop both.
"Known only during the update" are resources whose provider waits for something that is replaced, such as the control node.

| Key | Edit | Effect | Refused |
|---|---|---|---|
`)
	for _, r := range rows {
		var effects []string
		for _, e := range Effects() {
			if names := r.Plan.Names(e); len(names) > 0 {
				if e != Restarted {
					names = brief(names)
				}
				effects = append(effects, string(e)+": "+strings.Join(names, ", "))
			}
		}
		if len(effects) == 0 && r.Stopped == nil {
			effects = append(effects, "nothing on AWS or Kubernetes")
		}
		if len(effects) == 0 {
			effects = append(effects, "the program stops before it registers anything")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", strings.Join(r.Keys, "`, `"), strings.Join(r.Edit, "`, `"), strings.Join(effects, "; "), no(r))
	}
	return []byte(b.String())
}

// brief lists names; many of one component are told as such, without a number
// that every new resource would change.
func brief(names []string) []string {
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
		} else if said := "much of " + c; !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	return out
}

// no says who refuses and why, each reason once.
func no(r Row) string {
	reasons := map[string][]string{}
	var order []string
	for _, e := range unfold(r.Refused) {
		var refusal *Refusal
		if !errors.As(e, &refusal) {
			continue
		}
		if reasons[refusal.Rule] == nil {
			order = append(order, refusal.Rule)
		}
		reasons[refusal.Rule] = append(reasons[refusal.Rule], refusal.Change.Name)
	}
	slices.Sort(order)
	var out []string
	for _, rule := range order {
		slices.Sort(reasons[rule])
		out = append(out, strings.Join(reasons[rule], ", ")+" "+rule)
	}
	if r.Stopped != nil && len(out) == 0 {
		_, first, _ := strings.Cut(r.Stopped.Error(), "* ") // as Go programs tell their errors to the engine
		first, _, _ = strings.Cut(first, "\n")
		out = append(out, first)
	}
	return strings.ReplaceAll(strings.Join(out, "; "), "|", `\|`)
}

func unfold(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the joined error itself
		return joined.Unwrap()
	}
	return nil
}
