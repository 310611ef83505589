package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

const root = "../.."

// programs are built once for all tests.
var programs = trial.NewPrograms()

func TestMain(m *testing.M) {
	code := m.Run()
	programs.Remove()
	os.Exit(code)
}

// outcome is how a command ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// observatory runs the CLI in dir with additional environment variables.
func observatory(t *testing.T, dir string, environment []string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Cloud.Scaled())
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs.Dir(t), "observatory"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), environment...), &stdout, &stderr
	err := cmd.Run()
	require.NotNil(t, cmd.ProcessState, "%v", err)
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// projectWithEditedStack copies the project's files, with replacements (old, new,
// …) in the stack's file, and returns the folder of the copy.
func projectWithEditedStack(t *testing.T, stack string, edits ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"Pulumi.yaml", "Pulumi." + stack + ".yaml", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		if strings.Contains(name, stack) {
			before := string(text)
			text = []byte(strings.NewReplacer(edits...).Replace(before))
			require.NotEqual(t, before, string(text), "the file contains none of the replaced texts")
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

// TestRehearse rehearses every stack of the project, as `make rehearse` does, but for dev,
// which TestRehearsePrintsASummary rehearses.
func TestRehearse(t *testing.T) {
	kept := map[string]int{"local": 0, "pr": 2} // the tags of an existing network's subnets
	files, err := filepath.Glob(filepath.Join(root, "Pulumi.*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, len(kept)+1)
	for stack, keptCount := range kept {
		t.Run(stack, func(t *testing.T) {
			o := observatory(t, root, nil, "rehearse", "--stack", stack, "--json")
			require.Zero(t, o.code, o.stderr)
			var r rehearse.Report
			require.NoError(t, json.Unmarshal([]byte(o.stdout), &r))
			t.Logf("%s: %d resources, %d checked", stack, r.Resources, r.Checked)
			require.Empty(t, r.Problems)
			require.Equal(t, stack, r.Stack)
			require.Greater(t, r.Checked, 100)
			require.Empty(t, r.Protected)
			require.Len(t, r.Kept, keptCount, "%v", r.Kept)
			for _, p := range r.Phases {
				require.Regexp(t, `(?m)^ *\d+m?\d*s  `+p.Name+` `, o.stderr, "each phase is reported")
				if p.Name == "up again" {
					require.Equal(t, map[string]int{"same": r.Resources}, p.Steps)
				}
			}
		})
	}
}

func TestRehearsePrintsASummary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	o := observatory(t, root, nil, "rehearse", "--stack", "dev", "--export", file)
	require.Zero(t, o.code, o.stderr)
	state, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(state), "::emr-main-cluster")
	images := exec.Command("bash", "-c", `grep -o '"image": *"[^"]*"' state.json | sort -u`)
	images.Dir = filepath.Dir(file)
	listed, err := images.Output()
	require.NoError(t, err)
	for _, w := range platform.Workloads() {
		require.Contains(t, string(listed), w.Image.Ref(), "what a registry mirror needs")
	}
	require.Contains(t, o.stdout, "no errors")
	require.Contains(t, o.stdout, "4 refused to be destroyed until they were unprotected")
	require.Contains(t, o.stdout, "25 remain in the account after the destroy", "data with its settings, artifacts")
	require.Contains(t, o.stdout, "storage-data")
}

// The rehearsal removes termination protection before the destroy, as an operator
// must.
func TestRehearseRemovesTerminationProtection(t *testing.T) {
	testenv.RequireLong(t, "simulator/rehearse TestTerminationProtectionMustBeRemoved rehearses a smaller program")
	dir := projectWithEditedStack(t, "dev", "idleTimeoutMinutes: 60", "idleTimeoutMinutes: 60\n      terminationProtection: true")
	o := observatory(t, dir, nil, "rehearse", "--stack", "dev", "--json")
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, `"up, released"`)
}

func TestPreviewListsWhatWouldBeCreated(t *testing.T) {
	o := observatory(t, root, nil, "preview", "--stack", "dev")
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, "aws:emr:Cluster")
	created := regexp.MustCompile(`\+ (\d{3}) to create`).FindStringSubmatch(o.stdout)
	require.NotNil(t, created)
	require.Contains(t, o.stdout, "stack dev: "+created[1]+" resources, providers and components included, no errors", "one count")
	require.NotContains(t, o.stdout+o.stderr, "warning:")
}

// A node's file on standard input, or by name, is compared with what is restated.
func TestDoctorOfANode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spark-defaults.conf")
	text := "spark.driver.defaultJavaOptions   -XX:OnOutOfMemoryError='kill -9 %p'\nspark.executor.defaultJavaOptions -Xlog:gc\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	o := observatory(t, root, nil, "doctor", "--node", file, "--json")
	require.Equal(t, 1, o.code)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &r), o.stderr)
	require.Len(t, r.Checks, 2)
	require.True(t, r.Checks[0].OK)
	require.Equal(t, "-Xlog:gc", r.Checks[1].Found)
	o = observatory(t, root, nil, "doctor", "--node", file, "--aws")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "none of the others can be")
}

// Every command that starts the program refuses a misspelt key or a wrong value
// with its path, before it creates anything, and reports all errors at once.
func TestInvalidStackFileIsRefused(t *testing.T) {
	dir := projectWithEditedStack(t, "dev", "operatorCidrs:", "operatorCdirs:", "count: 2", "count: -1")
	state := filepath.Join(dir, "state")
	for _, command := range []string{"rehearse", "preview", "up"} {
		o := observatory(t, dir, nil, command, "--stack", "dev", "--state", state)
		require.Equal(t, 1, o.code, command)
		require.Contains(t, o.stderr, "Pulumi.dev.yaml")
		require.Contains(t, o.stderr, "emr-observatory:operatorCdirs")
		require.Contains(t, o.stderr, "emr-observatory:clusters.main.core.count: -1")
		require.NoDirExists(t, state, command)
	}
	o := observatory(t, root, nil, "up", "--state", state, "--config", "clusters.main.core.kount=1")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "emr-observatory:clusters.main.core.kount")
	o = observatory(t, root, nil, "rehearse", "--stack", "absent")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "the stacks here are dev, local, pr")
}

// On a machine without programs doctor reports everything that is missing; up
// reports the same and creates nothing.
func TestUpStopsIfProgramsAreMissing(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	noPrograms := []string{"PATH=" + t.TempDir(), "JAVA_HOME="}
	o := observatory(t, root, noPrograms, "doctor", "--json", "--state", state)
	require.Equal(t, 1, o.code)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &r))
	require.False(t, r.OK)

	o = observatory(t, root, noPrograms, "up", "--state", state)
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

// Doctor creates namespaces to test that it can. If the kernel refuses, it names
// the sysctl to raise.
func TestDoctorWithoutNetworkNamespaces(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	require.NoError(t, err, "util-linux has it")
	script := `echo 0 >/proc/sys/user/max_net_namespaces && exec "$0" doctor --json`
	program := filepath.Join(programs.Dir(t), "observatory")
	cmd := exec.CommandContext(t.Context(), unshare, "--user", "--map-root-user", "sh", "-c", script, program)
	cmd.Dir = root
	out, _ := cmd.Output() // it fails, with the reason on stdout
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
	require.Fail(t, "namespaces were not checked")
}

// Without credentials `doctor --aws` fails with the remedy, and makes no other request to AWS.
func TestDoctorOfAnAccount(t *testing.T) {
	noCredentials := []string{
		"AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_MAX_ATTEMPTS=1",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_PROFILE=", "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=",
	}
	o := observatory(t, root, noCredentials, "doctor", "--aws", "--stack", "dev", "--json")
	require.Equal(t, 1, o.code)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &r), o.stderr)
	require.Len(t, r.Checks, 1)
	require.Contains(t, r.Checks[0].Remedy, "aws sso login")
	o = observatory(t, root, noCredentials, "doctor", "--aws")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "--stack dev")
}

func TestDoctorFindsNothingMissingHere(t *testing.T) {
	o := observatory(t, root, nil, "doctor", "--state", filepath.Join(t.TempDir(), "state"))
	require.Zero(t, o.code, o.stdout)
	require.Contains(t, o.stdout, "created and removed", "doctor has created namespaces")
}

// Help lists every command, and shows an example of each that a newcomer needs.
func TestHelpDescribesEveryCommand(t *testing.T) {
	help := observatory(t, root, nil, "--help")
	require.Zero(t, help.code)
	for _, command := range []string{
		"doctor", "rehearse", "preview", "up", "down", "pulumi", "status", "submit", "dashboards", "guard", "tunnel", "observe", "tools",
		"artifacts",
	} {
		require.Regexp(t, `(?m)^  `+command+` +[A-Z]`, help.stdout)
		own := observatory(t, root, nil, command, "--help")
		require.Zero(t, own.code)
		require.Contains(t, own.stdout, "Usage:\n  observatory "+command)
	}
	for _, command := range []string{"doctor", "rehearse", "preview", "up", "submit", "down"} {
		require.Contains(t, help.stdout, "observatory "+command+" ", "an example")
	}
	require.NotContains(t, help.stdout, "  region ", "a hidden command")
	require.Regexp(t, `--log-wait .*default 6m0s`, observatory(t, root, nil, "submit", "--help").stdout, "EMR uploads logs every 5 minutes")
}

// This tests the command on made-up previews; stacks/changes reads real ones of the
// engine (TestDigestAgreesWithEvents).
func TestGuardRefusesAPreviewThatLosesData(t *testing.T) {
	preview := func(op, config string) string {
		const urn = "urn:pulumi:dev::emr-observatory::aws:s3/bucketV2:BucketV2::storage-data"
		const bucket = `{"urn":"` + urn + `","type":"aws:s3/bucketV2:BucketV2","custom":true,"id":"b","inputs":{"bucket":"b"}}`
		path := filepath.Join(t.TempDir(), "preview.json")
		step := fmt.Sprintf(`{"op":%q,"urn":%q,"oldState":%s,"newState":%s}`, op, urn, bucket, bucket)
		text := fmt.Sprintf(`{"config":{"emr-observatory:region":"us-east-1"%s},"steps":[%s]}`, config, step)
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
		"ephemeral":            {[]string{preview("delete", `,"emr-observatory:ephemeral":"true"`)}, 0, "no unaccepted loss"},
		"updated":              {[]string{preview("update", "")}, 0, "no unaccepted loss"},
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
	o := observatory(t, t.TempDir(), []string{"AWS_REGION=us-east-1"}, "guard", "--json", preview("delete", ""))
	found := verdictOf(t, o)
	require.Equal(t, map[string][]string{"deleted": {"storage-data"}}, found.Changes)
	require.Len(t, found.Refusals, 1)
	require.Empty(t, found.Notices)
}
