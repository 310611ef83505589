package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/command"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// The command reads the history, serves the state of the run, and ends without an error when
// it is stopped.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	address, logs := testenv.Address(t), readable(t)
	root := &cobra.Command{Use: "observatory-profiler", SilenceUsage: true, SilenceErrors: true}
	command.AddTo(root)
	var said bytes.Buffer // read after the end
	root.SetErr(&said)
	root.SetArgs([]string{"serve", "--logs", logs, "--output", t.TempDir(), "--listen-address", address})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	var state serve.State
	err := poll.Until(ctx, poll.Options{Interval: 10 * time.Millisecond, Timeout: time.Minute}, func(context.Context) error {
		response, err := http.Get("http://" + address + serve.Path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
			return err
		}
		if state.Last == nil {
			return errors.New("no run has ended")
		}
		return nil
	})
	stop()
	require.Equal(t, run.ExitComplete, command.Exit(&said, root.Name(), <-ended), fmt.Sprint(err, &said))
	require.NoError(t, err)
	require.Equal(t, serve.Complete, state.Last.Result)
	require.Equal(t, 1, state.Last.Applications)
	require.WithinDuration(t, state.Last.Started.Add(time.Hour), *state.Next, time.Second)
	require.Contains(t, said.String(), "1 applications read")
}
