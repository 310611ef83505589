package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
)

// heldStep runs until it is cancelled, and says when it has begun.
type heldStep struct {
	emrapitest.NoNodes
	began chan struct{}
}

func (h heldStep) RunStep(ctx context.Context, _ string, _ types.Step) error {
	close(h.began)
	<-ctx.Done()
	return context.Cause(ctx)
}

// Who interrupts the wait gets commands that can be run as they are printed: wherever the
// step runs, with its endpoints, they find it.
func TestInterruptedSubmitPrintsCommandsThatWork(t *testing.T) {
	held := heldStep{began: make(chan struct{})}
	cluster := emrapitest.ServeCluster(t, held)
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Job.Scaled())
	defer cancel()
	dir := t.TempDir()
	var stderr bytes.Buffer
	submit := exec.CommandContext(ctx, filepath.Join(programs.Dir(t), "observatory"), "--state", "no cloud's", "submit",
		"--wait", "--cluster", cluster, "s3://data/job.py")
	submit.Dir, submit.Stderr = dir, &stderr
	require.NoError(t, submit.Start())
	select {
	case <-held.began:
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	}
	require.NoError(t, submit.Process.Signal(os.Interrupt))
	require.Error(t, submit.Wait())
	require.NotContains(t, stderr.String(), "aws emr")
	printed := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^  (follow|cancel) it: (.*)$`).FindAllStringSubmatch(stderr.String(), -1) {
		printed[found[1]] = found[2]
	}
	run := func(name string) (string, error) {
		command := exec.CommandContext(ctx, "sh", "-c", printed[name])
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	out, err := run("cancel")
	require.NoError(t, err, "%s\n%s", stderr.String(), out)
	require.Contains(t, out, "is being cancelled; to wait for its end: ")
	_, printed["told by cancel"], _ = strings.Cut(strings.TrimSpace(out), "its end: ")
	for _, name := range []string{"follow", "told by cancel"} {
		out, err = run(name)
		require.Error(t, err)
		require.Contains(t, out, " of cluster "+cluster+" is CANCELLED", name)
	}
}
