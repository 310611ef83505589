package main

import (
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if remote.url != "" {
				st, err := remote.fetch(cmd.Context(), cmd.InOrStdin())
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(out, st)
				}
				return st.Render(out, time.Now())
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
				return writeJSON(out, l)
			}
			return l.render(out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	remote.addFlags(c, "url")
	return c
}

// render writes the status as text and tables.
func (l localStatus) render(out io.Writer) error {
	fmt.Fprintf(out, "local cloud: process %d, up since %s\n\n", l.Cloud.PID, l.Cloud.Started.Format(time.RFC3339))
	if l.Platform != nil {
		if err := l.Platform.Render(out, time.Now()); err != nil {
			return err
		}
	}
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
	for _, p := range l.Problems {
		fmt.Fprintln(out, "problem: "+p)
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
