package report

import (
	"crypto/sha256"
	_ "embed" // the template and the style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

var page = template.Must(template.New("page").Parse(source))

// Write writes the page of an application. project is the address of the project's pages, such
// as https://example.com/project/; "" leaves links to recipes out.
func Write(w io.Writer, a Application, project string) error {
	err := page.Execute(w, view{a, template.CSS(style), project}) //nolint:gosec // the style is this package's own file
	if err != nil {
		return fmt.Errorf("render the page of application %s: %w", a.ID, err)
	}
	return nil
}

// Policy is the Content-Security-Policy of the page: its own style, and nothing else.
func Policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// view is an application as the template shows it.
type view struct {
	Application

	Style   template.CSS
	Project string
}

// PhaseBar draws the phases.
func (v view) PhaseBar() drawing { return v.phaseBar() }

// Gantt is about jobs and stages.
func (v view) Gantt() drawing { return v.gantt() }

// Operations is about what clients of Spark Connect asked for.
func (v view) Operations() drawing { return v.operations() }

// Lives is about executors.
func (v view) Lives() drawing { return v.lives() }

// PhasesOverTime is about the moments.
func (v view) PhasesOverTime() drawing { return v.phasesOverTime() }

// ExecutorsOverTime is about the moments.
func (v view) ExecutorsOverTime() drawing { return v.executorsOverTime() }

// HasExecutors reports whether the moments have executors.
func (v view) HasExecutors() bool { return v.mostExecutors() > 0 }

// States lists the states of executors, with how much time they were in each.
func (v view) States() []stateTime { return v.statesOverall() }

// History is about runs of the same name.
func (v view) History() drawing { return v.history() }

// Time writes a time; "" for none.
func (view) Time(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// Bytes writes a size.
func (view) Bytes(n int64) string { return rules.Format(float64(n), rules.Bytes) }

// Share writes a share of 0 to 1.
func (view) Share(share float64) string { return rules.Format(share, rules.Share) }

// Lasting writes a duration.
func (view) Lasting(d time.Duration) string { return duration(d) }

// CoreHoursOf writes core-hours.
func (view) CoreHoursOf(hours float64) string { return rules.Format(hours, rules.CoreHours) }

// RecipeURL is the address of a recipe; "" if there is none.
func (v view) RecipeURL(r rules.Recipe) string {
	if v.Project == "" || r == "" {
		return ""
	}
	return strings.TrimSuffix(v.Project, "/") + "/" + r.Path()
}

// Besides says what cost a failed application most, beside the cause of its failure.
func (v view) Besides() string {
	if !v.Failed || v.Cause == "" || len(v.Findings) == 0 || v.Findings[0].Impact == nil {
		return ""
	}
	return v.Cost()
}

// Took is how long a stage lasted; "" if its end is not known.
func (view) Took(s Stage) string {
	if s.End.IsZero() {
		return ""
	}
	return duration(s.End.Sub(s.Start))
}

// Class is the style of a phase.
func (view) Class(p Phase) string { return classOf(p.Phase) }

// Removed lists the executors that were removed for a reason that is worth a look.
func (v view) Removed() (all []Executor) {
	for _, e := range v.Executors {
		if e.Failed {
			all = append(all, e)
		}
	}
	return all
}

// PhaseOf returns a phase by its name in the tables.
func PhaseOf(name string, took time.Duration, share float64) Phase {
	return Phase{Phase: platform.Phase(name), Took: took, Share: share}
}

// Words are the phase, its length and its share.
func (p Phase) Words() string {
	return p.Phase.Word() + ": " + duration(p.Took) + " (" + rules.Format(p.Share, rules.Share) + ")"
}
