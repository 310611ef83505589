package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/submit"
)

// An interrupted up says what it leaves, and how to go on; the engine's transcript is none
// of it.
func TestInterruptedUpTellsWhatRuns(t *testing.T) {
	program := os.Args
	t.Cleanup(func() { os.Args = program })
	state, none := runningCloud(t, nil), filepath.Join(t.TempDir(), "none")
	const transcript = "bring up stack local: exit status 255\ncode: 255\nstdout: ^C received"
	job := &submit.Result{Cluster: "j-1", StepID: "s-1"}
	runs := fmt.Sprintf("  still runs: the local cloud (process %d, state folder %s) with what the stack has so far\n", os.Getpid(), state)
	detached := fmt.Errorf("job orders.py: %w", submit.ErrDetached)
	for name, c := range map[string]struct {
		args    []string
		s       settings
		state   string
		err     error
		job     *submit.Result
		want    string
		resumes string
	}{
		"make up": {[]string{"up"}, settings{stack: defaultStack}, state, errors.New(transcript), nil,
			"interrupted: bring up stack local: exit status 255\n" + runs, "  resume: make up\n  remove: make down"},
		"flags": {[]string{"up", "--state", state, "-c", "tags={a: b}"}, settings{state: state, stack: defaultStack}, state,
			errors.New(transcript), nil, "interrupted: bring up stack local: exit status 255\n" + runs,
			"  resume: bin/observatory up --state " + state + " -c 'tags={a: b}'\n  remove: bin/observatory --state " + state + " down"},
		"before the cloud": {[]string{"up"}, settings{stack: defaultStack}, none, errors.New("fetch Spark: killed"), nil,
			"interrupted: fetch Spark: killed\n  nothing runs; the state folder is " + none + "\n", "  resume: make up\n  remove: make down"},
		"in its job": {[]string{"up"}, settings{stack: defaultStack}, state, detached, job,
			"interrupted: job orders.py: no longer following the step\n" + runs +
				"  follow its job: bin/observatory step follow --cluster j-1 s-1\n  cancel its job: bin/observatory step cancel --cluster j-1 s-1\n",
			"  resume: make up\n  remove: make down"},
		"down": {[]string{"down"}, settings{stack: "pr"}, state, errors.New("destroy"), nil,
			"interrupted: destroy\n" + runs, "  resume: bin/observatory --stack pr down\n  remove: bin/observatory --stack pr down"},
	} {
		os.Args = append([]string{"bin/observatory"}, c.args...)
		require.EqualError(t, c.s.interrupted(c.err, c.state, c.job), c.want+c.resumes, name)
	}
}
