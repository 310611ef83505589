package status

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Access is what a client needs to read the status.
type Access struct {
	CACertificate []byte // PEM; empty = this machine's CAs
	Password      string // of platform.StatusUser; "" = none
}

// String hides the password, so that no format verb shows it by accident.
func (Access) String() string { return "[secret]" }

// GoString does the same for %#v.
func (Access) GoString() string { return "[secret]" }

// Fetch reads the status from a server, given as https://host:port or with the
// path (the stack output statusUrl). It sends a password over TLS only.
func Fetch(ctx context.Context, address string, access Access) (Status, error) {
	var fetched Status
	at, err := fetch(ctx, address, "", access, &fetched)
	if err != nil {
		return Status{}, fmt.Errorf("fetch status: %w", err)
	}
	if fetched.SchemaVersion != SchemaVersion {
		return Status{}, fmt.Errorf("fetch status: %s answers schema version %d, this program reads %d; use the program of the same release",
			at, fetched.SchemaVersion, SchemaVersion)
	}
	return fetched, nil
}

// fetch decodes what a server answers at a URL below its status into v, and returns the
// URL of the status.
func fetch(ctx context.Context, address, below string, access Access, v any) (string, error) {
	at := strings.TrimSuffix(address, "/")
	if !strings.HasSuffix(at, Path) {
		at += Path
	}
	if access.Password != "" && !strings.HasPrefix(at, "https://") {
		return at, fmt.Errorf("%s: a password is sent to https:// only; take the address from the stack output statusUrl", at)
	}
	client, err := NewClient(access.CACertificate, "")
	if err != nil {
		return at, err
	}
	defer client.CloseIdleConnections()
	body, err := get(ctx, client, fetchTimeout, at+below, func(r *http.Request) {
		r.Header.Set("Accept", "application/json")
		if access.Password != "" {
			r.SetBasicAuth(platform.StatusUser, access.Password)
		}
	})
	if err != nil {
		return at, explain(err)
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(v); err != nil {
		return at, fmt.Errorf("%s: %w", at, err)
	}
	return at, nil
}

// Render writes the status for people, with times as ages at now. What is not as it should be
// comes first.
func (s Status) Render(w io.Writer, now time.Time) error {
	var text strings.Builder
	for _, trouble := range s.troubles() {
		text.WriteString("problem: " + trouble + "\n")
	}
	for _, problem := range s.Problems {
		text.WriteString("not known: " + problem + "\n")
	}
	if text.Len() > 0 {
		text.WriteString("\n")
	}
	fmt.Fprintf(&text, "control node %s, data %s\n", s.Control.PrivateIP, s.S3Paths.Data)
	fmt.Fprintf(&text, "Grafana %s, OTLP %s\n\n", s.Control.GrafanaURL, s.Control.OTLP)
	workloads := newTable("WORKLOAD", "READY", "REASON")
	for _, workload := range s.Workloads {
		workloads.AppendRow(table.Row{workload.Name, workload.Readiness(), workload.Reason + workload.Absent})
	}
	text.WriteString(workloads.Render() + "\n\n")
	if len(s.Clusters) > 0 {
		clusters := newTable("CLUSTER", "ID", "STATE", "NODES", "RELEASE", "BOOTSTRAP", "REASON")
		for _, c := range s.Clusters {
			clusters.AppendRow(table.Row{c.Name, c.ID, c.Shown(), c.Roles(), c.Release, c.Bootstrap, c.Reason})
		}
		text.WriteString(clusters.Render() + "\n\n")
	}
	if len(s.Nodes) == 0 {
		text.WriteString("no node has sent metrics in the last " + Window.String() + "\n")
	} else {
		nodes := newTable("CLUSTER", "ROLE", "HOST", "LAST SEEN", "BOOTSTRAP")
		for _, node := range s.Nodes {
			age := max(0, now.Sub(node.LastSeen)).Round(time.Second)
			nodes.AppendRow(table.Row{s.NameOf(node.Cluster), node.Role, node.Host, age.String() + " ago", s.Outcome(node)})
		}
		text.WriteString(nodes.Render() + "\n")
	}
	if len(s.Steps) > 0 {
		steps := newTable("STEP", "NAME", "CLUSTER", "STATE", "TOOK", "APPLICATIONS")
		for _, step := range s.Steps {
			steps.AppendRow(table.Row{step.ID, step.Name, s.NameOf(step.Cluster), step.State, step.Took(now), applicationsOf(step)})
		}
		text.WriteString("\n" + steps.Render() + "\n")
	}
	if s.History != nil {
		text.WriteString("\nhistory: " + historyLine(s.History, now) + "\n")
		for _, c := range s.NotRead() {
			fmt.Fprintf(&text, "history of %s (%s) is not read: %s\n", c.Name, c.ID, c.HistoryUnread)
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

// applicationsOf lists a step's applications: a line for each whose phases are known,
// one for the others.
func applicationsOf(step Step) string {
	var lines, others []string
	for _, of := range step.Phases {
		lines = append(lines, of.ApplicationID+": "+of.Line)
	}
	for _, id := range step.ApplicationIDs {
		if !slices.ContainsFunc(step.Phases, func(of ApplicationPhases) bool { return of.ApplicationID == id }) {
			others = append(others, id)
		}
	}
	if len(others) > 0 {
		lines = append(lines, strings.Join(others, " "))
	}
	return strings.Join(lines, "\n")
}

// Outcome describes the outcome of a node's bootstrap action; "-" if it has
// none.
func (s Status) Outcome(node Node) string {
	for _, b := range s.Bootstrap {
		if b.Cluster != node.Cluster || b.Host != node.Host {
			continue
		}
		if len(b.Failed) == 0 {
			return string(b.Result)
		}
		without := make([]string, 0, len(b.Failed))
		for _, component := range b.Failed {
			without = append(without, string(component))
		}
		return string(b.Result) + ", without " + strings.Join(without, ", ")
	}
	return "-"
}

func newTable(columns ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(columns)
	return t
}

// Readiness describes whether a workload is ready.
func (w Workload) Readiness() string {
	switch {
	case w.Ready:
		return "yes"
	case w.Absent != "":
		return "not here"
	}
	return "no"
}
