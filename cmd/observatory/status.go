package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// localStatus is what `status` prints about a local cloud.
type localStatus struct {
	Cloud     localcloud.Running `json:"cloud"`
	Platform  *status.Status     `json:"platform,omitempty"`
	Workloads []kube.Status      `json:"workloads"`
	Recorded  []string           `json:"recordedOnly"`
	Problems  []string           `json:"problems,omitempty"`
}

func statusCommand(s *settings) *cobra.Command {
	var asJSON bool
	var remote remoteStatus
	c := &cobra.Command{
		Use: "status", Args: cobra.NoArgs,
		Short: "What runs, where, and what is missing",
		Long: "Prints the status of the local cloud, or of the platform at --url. What is not as it should be comes first.\n\n" +
			fmt.Sprintf("Exit codes: 0 everything that should run is ready; %d something is not ready or does not answer; 1 there is\n", exitDown) +
			"no status to read: no local cloud runs, or the page at --url does not answer.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if remote.url != "" {
				st, err := remote.fetch(cmd.Context(), cmd.InOrStdin())
				if err != nil {
					return err
				}
				if asJSON {
					err = writeJSON(out, st)
				} else {
					err = st.Render(out, time.Now())
				}
				return cmp.Or(err, exitOf(st.Down()))
			}
			state, err := s.stateDir()
			if err != nil {
				return err
			}
			running, isLocal, err := local.Connect(state)
			if err != nil {
				return err
			}
			if !isLocal {
				return errors.Join(localcloud.ErrDown, errors.New("or name a platform with --url (stack output statusUrl)"))
			}
			l := localStatus{Cloud: running, Recorded: localcloud.RecordedOnly()}
			if st, err := status.Fetch(cmd.Context(), running.URL(string(platform.WorkloadStatus)), status.Access{}); err != nil {
				l.Problems = append(l.Problems, err.Error())
			} else {
				l.Platform = &st
			}
			if err := getJSON(running.URL(localcloud.ServiceControl)+"/workloads", &l.Workloads); err != nil {
				l.Problems = append(l.Problems, err.Error())
			}
			if asJSON {
				err = writeJSON(out, l)
			} else {
				err = l.render(out)
			}
			return cmp.Or(err, exitOf(l.down()))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	remote.addFlags(c, "url")
	return c
}

// exitDown is the exit code of a status in which something is down.
const exitDown exitCode = 3

// exitOf returns the error that ends the program, nil if nothing is down.
func exitOf(down []string) error {
	if len(down) > 0 {
		return exitDown
	}
	return nil
}

// down lists what does not answer or is not ready.
func (l localStatus) down() []string {
	if l.Platform == nil {
		return l.Problems
	}
	return append(l.Platform.Down(), l.Problems...)
}

// render writes the status as text and tables, after the problems.
func (l localStatus) render(out io.Writer) error {
	for _, p := range l.Problems {
		fmt.Fprintln(out, "problem: "+p)
	}
	if l.Platform != nil {
		if err := l.Platform.Render(out, time.Now()); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nlocal cloud: process %d, up since %s\n", l.Cloud.PID, l.Cloud.Started.Format(time.RFC3339))
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"workload", "runs here", "restarts", ""})
	for _, w := range l.Workloads {
		t.AppendRow(table.Row{w.Name, w.Running, w.Restarts, w.Reason})
	}
	t.Render()
	fmt.Fprintln(out, "\nRecorded only: neither run nor enforced locally")
	for _, r := range l.Recorded {
		fmt.Fprintln(out, "  "+r)
	}
	return nil
}

func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// getJSON decodes the response of a URL into v.
func getJSON(url string, v any) error {
	client := http.Client{Timeout: 10 * time.Second}
	res, err := client.Get(url) //nolint:noctx // bounded by the timeout
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(res.Body).Decode(v)
}
