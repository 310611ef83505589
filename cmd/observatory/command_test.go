package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/doctor"
	"github.com/emr-observatory/emr-observatory/localcloud/rehearse"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
)

const root = "../.."

// bin is the folder of the three programs, built once.
var bin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "observatory-bin-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", slices.Concat([]string{"build"}, platform.CompilerFlags(), []string{"-buildvcs=false", "-o", dir + "/", "./cmd/observatory", "./cmd/observatory-control", "./localcloud/machine/machined"})...)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	return dir, errors.Join(os.Setenv(stacks.BinaryEnv, filepath.Join(dir, "observatory-control")),
		os.Chmod(dir, 0o755)) //nolint:gosec // other accounts run machined
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built {
		if dir, _ := bin(); dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// built tells TestMain that there is something to remove.
var built bool

func programs(t *testing.T) string {
	t.Helper()
	built = true
	dir, err := bin()
	require.NoError(t, err)
	return dir
}

// outcome is what a command left.
type outcome struct {
	stdout, stderr string
	code           int
	cpu            time.Duration // of the command and everything that it waited for
}

// observatory runs the program in dir with changes to the environment.
func observatory(t *testing.T, dir string, environment []string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(t), "observatory"), args...)
	var out, problems bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), environment...), &out, &problems
	err := cmd.Run()
	require.NotNil(t, cmd.ProcessState, "%v", err)
	return outcome{out.String(), problems.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// altered is a project whose stack file is not as it should be.
func altered(t *testing.T, stack string, edits ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"Pulumi.yaml", "Pulumi." + stack + ".yaml", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		if strings.Contains(name, stack) {
			before := string(text)
			text = []byte(strings.NewReplacer(edits...).Replace(before))
			require.NotEqual(t, before, string(text), "the edit found nothing")
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

// budget is how long a rehearsal may keep a processor busy: the time by the
// clock is the machine's, which runs other tests as well.
const budget = 15 * time.Second

// TestRehearse takes every stack of the project through its life as
// `make rehearse` does.
func TestRehearse(t *testing.T) {
	protected := map[string]int{"dev": 4, "local": 0, "pr": 0}
	files, err := filepath.Glob(filepath.Join(root, "Pulumi.*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, len(protected))
	for stack, refusing := range protected {
		t.Run(stack, func(t *testing.T) {
			o := observatory(t, root, nil, "rehearse", "--stack", stack, "--json")
			require.Zero(t, o.code, o.stderr)
			var r rehearse.Report
			require.NoError(t, json.Unmarshal([]byte(o.stdout), &r))
			t.Logf("%s: %d resources, %d checked, %s of processor time", stack, r.Resources, r.Checked, o.cpu.Round(100*time.Millisecond))
			require.Empty(t, r.Faults)
			require.Equal(t, stack, r.Stack)
			require.Greater(t, r.Checked, 100)
			require.Len(t, r.Protected, refusing)
			for _, p := range r.Phases {
				require.Regexp(t, regexp.MustCompile(`(?m)^ +\d+m?\d*s  `+p.Name+` `), o.stderr, "each phase is told")
				if p.Name == "up again" {
					require.Equal(t, map[string]int{"same": r.Resources}, p.Steps)
				}
			}
			require.Less(t, o.cpu, budget)
		})
	}
}

func TestRehearseSaysWhatItDid(t *testing.T) {
	o := observatory(t, root, nil, "rehearse", "--stack", "dev")
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, "no fault")
	require.Contains(t, o.stdout, "4 refused to be destroyed until their protection was taken off")
	require.Contains(t, o.stdout, "storage-data")
}

// Termination protection is taken off before the destroy, as an operator must.
func TestRehearseReleasesTheCluster(t *testing.T) {
	dir := altered(t, "dev", "idleTimeoutMinutes: 60", "idleTimeoutMinutes: 60\n    terminationProtection: true")
	o := observatory(t, dir, nil, "rehearse", "--stack", "dev", "--json")
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, `"up, released"`)
}

func TestPreviewShowsWhatThereWillBe(t *testing.T) {
	o := observatory(t, root, nil, "preview", "--stack", "dev")
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, "aws:emr:Cluster")
	require.Regexp(t, `\+ \d{3} to create`, o.stdout)
}

// A misspelt or wrong key is refused by each command that starts the program,
// with its path and before anything is made. All faults are told at once.
func TestAFaultyStackFileIsRefused(t *testing.T) {
	dir := altered(t, "dev", "operatorCidrs:", "operatorCdirs:", "count: 2", "count: 0")
	state := filepath.Join(dir, "state")
	for _, command := range []string{"rehearse", "preview", "up"} {
		o := observatory(t, dir, nil, command, "--stack", "dev", "--state", state)
		require.Equal(t, 1, o.code, command)
		require.Contains(t, o.stderr, "Pulumi.dev.yaml")
		require.Contains(t, o.stderr, "emr-observatory:operatorCdirs")
		require.Contains(t, o.stderr, "emr-observatory:emr.core.count: 0")
		require.NoDirExists(t, state, command)
	}
	o := observatory(t, root, nil, "up", "--state", state, "--config", "emr.core.kount=1")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "emr-observatory:emr.core.kount")
	o = observatory(t, root, nil, "rehearse", "--stack", "absent")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "the stacks here are dev, local, pr")
}

// On a machine without programs doctor tells all that is missing, and up stops
// with the same and makes nothing.
func TestUpStopsWhereTheMachineLacksSomething(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	empty := []string{"PATH=" + t.TempDir(), "JAVA_HOME="}
	o := observatory(t, root, empty, "doctor", "--json", "--state", state)
	require.Equal(t, 1, o.code)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &r))
	require.False(t, r.OK)

	o = observatory(t, root, empty, "up", "--state", state)
	require.Equal(t, 1, o.code)
	missing := 0
	for _, c := range r.Checks {
		if !c.OK && !c.Tests {
			missing++
			require.Contains(t, o.stderr, c.Error())
		}
	}
	require.GreaterOrEqual(t, missing, 5)
	require.NoDirExists(t, state)
}

// The trial of namespaces is real: where the kernel has none left to give,
// doctor says so and names the switch.
func TestDoctorWithoutNetworkNamespaces(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	require.NoError(t, err, "util-linux has it")
	script := `echo 0 >/proc/sys/user/max_net_namespaces && exec "$0" doctor --json`
	cmd := exec.CommandContext(t.Context(), unshare, "--user", "--map-root-user", "sh", "-c", script, filepath.Join(programs(t), "observatory"))
	cmd.Dir = root
	out, _ := cmd.Output() // it fails, and tells why on stdout
	var r doctor.Report
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	require.False(t, r.OK)
	for _, c := range r.Checks {
		if c.Name == "namespaces" {
			require.False(t, c.OK)
			require.Contains(t, c.Remedy, "user.max_net_namespaces")
			return
		}
	}
	require.Fail(t, "namespaces were not looked at")
}

func TestDoctorFindsThisMachineFit(t *testing.T) {
	o := observatory(t, root, nil, "doctor", "--state", filepath.Join(t.TempDir(), "state"))
	require.Zero(t, o.code, o.stdout)
	require.Contains(t, o.stdout, "made and removed again", "namespaces were tried")
}

// upInJSON is a part of TestLife: stdout is one JSON value, whose addresses
// answer.
func upInJSON(t *testing.T, c *cloud) {
	var r struct {
		Stack, Cluster, Bucket string
		Job                    *json.RawMessage
		Objects                map[string]int
		URLs                   map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(c.run(t, "up", "--no-job", "--json")), &r))
	have := c.outputs(t)
	require.Equal(t, []string{"local", have.EMRClusterID, have.DataBucket}, []string{r.Stack, r.Cluster, r.Bucket})
	require.Nil(t, r.Job)
	require.Positive(t, r.Objects[platform.PrefixArtifacts.URI(have.DataBucket)])
	res, err := http.Get(r.URLs["status"])
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}

// Help names every command and an example of each that a reader starts with.
func TestHelpSuffices(t *testing.T) {
	help := observatory(t, root, nil, "--help")
	require.Zero(t, help.code)
	for _, command := range []string{"doctor", "rehearse", "preview", "up", "down", "pulumi", "status", "submit", "dashboards", "guard", "tools", "artifacts"} {
		require.Regexp(t, `(?m)^  `+command+` +[A-Z]`, help.stdout)
		one := observatory(t, root, nil, command, "--help")
		require.Zero(t, one.code)
		require.Contains(t, one.stdout, "Usage:\n  observatory "+command)
	}
	for _, command := range []string{"doctor", "rehearse", "preview", "up", "submit", "down"} {
		require.Contains(t, help.stdout, "observatory "+command+" ", "an example")
	}
	require.NotContains(t, help.stdout, "  region ", "inner commands are not for people")
}

// What a preview of the engine's really prints is read in stacks/changes,
// TestTheCommandLineSaysTheSame; this is the command around it.
func TestGuardRefusesAPreviewThatLosesData(t *testing.T) {
	preview := func(op, config string) string {
		const bucket = `{"urn":"urn:pulumi:dev::emr-observatory::aws:s3/bucketV2:BucketV2::storage-data","type":"aws:s3/bucketV2:BucketV2","custom":true,"id":"b","inputs":{"bucket":"b"}}`
		path := filepath.Join(t.TempDir(), "preview.json")
		text := fmt.Sprintf(`{"config":{"emr-observatory:region":"us-east-1"%s},"steps":[{"op":%q,"urn":"urn:pulumi:dev::emr-observatory::aws:s3/bucketV2:BucketV2::storage-data","oldState":%s,"newState":%s}]}`,
			config, op, bucket, bucket)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	notJSON := filepath.Join(t.TempDir(), "preview.txt")
	require.NoError(t, os.WriteFile(notJSON, []byte("Previewing update (dev)"), 0o600))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"lost":                 {[]string{preview("delete", "")}, 1, "storage-data: deleted; holds"},
		"lost, as JSON":        {[]string{preview("delete", ""), "--json"}, 1, "accept it by the name storage-data"},
		"accepted":             {[]string{preview("delete", ""), "--accept", "storage-data"}, 0, "deleted: storage-data"},
		"ephemeral":            {[]string{preview("delete", `,"emr-observatory:ephemeral":"true"`)}, 0, "nothing is lost"},
		"updated":              {[]string{preview("update", "")}, 0, "nothing is lost that was not accepted"},
		"another name":         {[]string{preview("update", ""), "--accept", "storage-dat"}, 1, "must name what this up would lose"},
		"no preview":           {[]string{notJSON}, 1, "pulumi preview --json"},
		"no file":              {[]string{"none.json"}, 1, "none.json"},
		"nothing on its stdin": {nil, 1, "pulumi preview --json"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observatory(t, t.TempDir(), []string{"AWS_REGION=us-east-1"}, append([]string{"guard"}, c.args...)...)
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, o.stdout+o.stderr, c.says)
		})
	}
	var told struct {
		Changes  map[string][]string
		Refusals []string
	}
	o := observatory(t, t.TempDir(), []string{"AWS_REGION=us-east-1"}, "guard", "--json", preview("delete", ""))
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &told), o.stdout)
	require.Equal(t, map[string][]string{"deleted": {"storage-data"}}, told.Changes)
	require.Len(t, told.Refusals, 1)
}
