package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// The command reads the history, serves the state of the run, and ends without an error when
// it is stopped.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	address, logs := testenv.Address(t), readable(t)
	var said bytes.Buffer // read after the end
	ended, out := make(chan int, 1), t.TempDir()
	go func() {
		ended <- executeIn(ctx, io.Discard, &said, "serve", "--logs", logs, "--output", out, "--listen-address", address)
	}()
	var state serve.State
	err := testenv.Poll(ctx, testenv.Arrival, 10*time.Millisecond, func(context.Context) error {
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
	require.Equal(t, run.ExitComplete, <-ended, fmt.Sprint(err, &said))
	require.NoError(t, err)
	require.Equal(t, serve.Complete, state.Last.Result)
	require.Equal(t, 1, state.Last.Applications)
	require.WithinDuration(t, state.Last.Started.Add(time.Hour), *state.Next, time.Second)
	require.Contains(t, said.String(), "1 applications read")
}
