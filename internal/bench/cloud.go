package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// cloud is the local cloud that is measured.
type cloud struct{ state, program string }

// upResult is what `observatory up --json` prints, as far as it is wanted here.
type upResult struct {
	Bucket  string
	Seconds map[string]float64
}

// json runs the program and reads what it prints.
func (c cloud) json(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, c.program, append([]string{"--state", c.state}, args...)...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("observatory %s: %w\n%s", strings.Join(args, " "), err, problems.String())
	}
	return json.Unmarshal(out, into)
}

// end takes the local cloud down, also after an interrupt.
func (c cloud) end() error {
	out, err := exec.Command(c.program, "--state", c.state, "down").CombinedOutput()
	if err != nil {
		return fmt.Errorf("observatory --state %s down: %w\n%s", c.state, err, out)
	}
	return nil
}

// down ends the measured cloud: what follows is measured without it.
func (c cloud) down(context.Context, *result, options) error { return c.end() }

// warm measures up with everything built: the local cloud, the stack, the job.
func (c cloud) warm(ctx context.Context, r *result, _ options) error {
	if err := exec.CommandContext(ctx, c.program, "tools").Run(); err != nil {
		return err
	}
	begun := time.Now()
	var up upResult
	if err := c.json(ctx, &up, "up", "--json"); err != nil {
		return err
	}
	r.WarmSeconds, r.WarmParts = time.Since(begun).Seconds(), up.Seconds
	return nil
}

// bootstrap reads what a node downloads, and what the nodes themselves report
// of the time that took.
func (c cloud) bootstrap(_ context.Context, r *result, _ options) error {
	locked, err := artifacts.LockedFor([]string{runtime.GOARCH})
	if err != nil {
		return err
	}
	for _, a := range locked {
		r.BootstrapMB += float64(a.Size) / 1e6
	}
	reports, err := filepath.Glob(filepath.Join(c.state, "machines", "*", platform.NodeReportFile))
	if err != nil || len(reports) == 0 {
		return errors.Join(err, errors.New("no node reported"))
	}
	for _, path := range reports {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var report struct{ Seconds float64 }
		if err := json.Unmarshal(text, &report); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.BootstrapS = max(r.BootstrapS, report.Seconds)
	}
	return nil
}

// noop measures the engine's update without changes against that of an empty
// program, by turns. What the guard's preview adds is in the parts of up.
func (c cloud) noop(ctx context.Context, r *result, _ options) error {
	empty, err := emptyProgram(ctx, filepath.Join(filepath.Dir(c.state), "empty"))
	if err != nil {
		return err
	}
	var ratios []float64
	for range 5 {
		begun := time.Now()
		if _, err := empty.Up(ctx, optup.SuppressProgress()); err != nil {
			return err
		}
		without := time.Since(begun).Seconds()
		var up upResult
		if err := c.json(ctx, &up, "up", "--no-job", "--json"); err != nil {
			return err
		}
		say("up without changes %.2f s, empty program %.2f s", up.Seconds["stack"], without)
		ratios = append(ratios, up.Seconds["stack"]/without)
	}
	r.UpNoopOverEmpty = median(ratios)
	return nil
}

// emptyProgram is a stack without resources on the same engine.
func emptyProgram(ctx context.Context, dir string) (auto.Stack, error) {
	engine, err := servers.Find(ctx, servers.Pulumi)
	if err != nil {
		return auto.Stack{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return auto.Stack{}, err
	}
	// The engine is looked up in this process's own PATH.
	if err := os.Setenv("PATH", filepath.Dir(engine)+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return auto.Stack{}, err
	}
	nothing := func(*pulumi.Context) error { return nil }
	return auto.UpsertStackInlineSource(ctx, "empty", "empty", nothing, auto.EnvVars(map[string]string{
		"PULUMI_BACKEND_URL": "file://" + dir, "PULUMI_CONFIG_PASSPHRASE": "empty", "PULUMI_HOME": filepath.Join(dir, "home"),
		"PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
	}))
}

// jobs runs the example job by turns with telemetry and without: the launcher
// in none of its JVMs, and the nodes' collectors stopped.
func (c cloud) jobs(ctx context.Context, r *result, o options) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	var without, withoutCPU, ratiosCPU []float64
	for pair := range o.pairs {
		var plain, told cost
		runPlain := func() {
			if err = signalCollectors(c.state, syscall.SIGSTOP); err != nil {
				return
			}
			plain, err = c.job(ctx, bucket, o, "--conf", "spark.driver.defaultJavaOptions=", "--conf", "spark.executor.defaultJavaOptions=")
			err = errors.Join(err, signalCollectors(c.state, syscall.SIGCONT), rest(ctx, catchUp))
		}
		if pair%2 == 0 {
			runPlain()
		}
		if err == nil {
			told, err = c.job(ctx, bucket, o)
		}
		if pair%2 == 1 && err == nil {
			runPlain()
		}
		if err != nil {
			return err
		}
		say("pair %d: %.1f s with telemetry, %.1f s without (CPU of the machine %.1f s, %.1f s)", pair+1, told.seconds, plain.seconds, told.cpu, plain.cpu)
		without, r.JobRatios = append(without, plain.seconds), append(r.JobRatios, told.seconds/plain.seconds)
		withoutCPU, ratiosCPU = append(withoutCPU, plain.cpu), append(ratiosCPU, told.cpu/plain.cpu)
	}
	r.JobRatio, r.JobPairs, r.JobSeconds = median(r.JobRatios), o.pairs, median(without)
	r.JobCPURatio, r.JobCPUSeconds = median(ratiosCPU), median(withoutCPU)
	return nil
}

// catchUp is time for the nodes' collectors to read what was logged while they
// were stopped: that is no cost of the next job.
const catchUp = 10 * time.Second

// signalCollectors stops the nodes' collectors or has them go on.
func signalCollectors(state string, signal syscall.Signal) error {
	found, err := processes(state)
	if err != nil {
		return err
	}
	program, signalled := filepath.Base(platform.NodeCollectorBinary), 0
	for _, p := range found {
		if p.name == program {
			signalled++
			err = errors.Join(err, syscall.Kill(p.PID, signal))
		}
	}
	if signalled == 0 {
		return errors.Join(err, fmt.Errorf("no %s runs in %s", program, state))
	}
	return err
}

// memoryInAJob watches a job that is not timed: to look at the memory of all
// processes each second costs CPU time, a fifth of the job's.
func (c cloud) memoryInAJob(ctx context.Context, r *result, o options) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	stop, peak := watch(ctx, c.state)
	_, err = c.job(ctx, bucket, o)
	stop()
	r.JobMiB = peak()
	r.JobGiB = total(r.JobMiB) / 1024
	return err
}

// bucket is the stack's data bucket.
func (c cloud) bucket(ctx context.Context) (string, error) {
	var up upResult
	err := c.json(ctx, &up, "up", "--no-job", "--json")
	return up.Bucket, err
}

// cost is what a job took.
type cost struct{ seconds, cpu float64 }

// job is what EMR says that a step took, and what the machine worked meanwhile.
func (c cloud) job(ctx context.Context, bucket string, o options, conf ...string) (cost, error) {
	args := append([]string{"submit", "--wait", "--json"}, conf...)
	var step submit.Result
	before, err := worked()
	if err != nil {
		return cost{}, err
	}
	err = c.json(ctx, &step, append(args, "examples/jobs/orders.py", platform.PrefixLake.URI(bucket)+"bench", strconv.Itoa(o.rows))...)
	if err != nil {
		return cost{}, err
	}
	after, err := worked()
	return cost{step.Ended.Sub(*step.Started).Seconds(), after - before}, err
}

// cold measures make up from a fresh clone with every cache empty.
func cold(ctx context.Context, r *result, o options) error {
	if !o.cold {
		say("not asked for (-cold)")
		return nil
	}
	dir, err := os.MkdirTemp("", "observatory-cold-")
	if err != nil {
		return err
	}
	defer func() {
		_ = exec.Command("chmod", "-R", "u+w", dir).Run() // Go's module cache is read-only
		_ = os.RemoveAll(dir)
	}()
	clone := filepath.Join(dir, "clone")
	if err := errors.Join(os.Chmod(dir, 0o755), exec.CommandContext(ctx, "git", "clone", "-q", ".", clone).Run()); err != nil { //nolint:gosec // accounts of the nodes pass through it
		return err
	}
	inClone := func(ctx context.Context, target string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "make", target)
		cmd.Dir = clone
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir+"/cache", "GOCACHE="+dir+"/go-build", "GOMODCACHE="+dir+"/go-mod",
			"MAVEN_ARGS=-Dmaven.repo.local="+dir+"/m2", "PIP_CACHE_DIR="+dir+"/pip")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		return cmd
	}
	begun := time.Now()
	err = inClone(ctx, "up").Run()
	r.ColdSeconds = time.Since(begun).Seconds()
	return errors.Join(err, inClone(context.WithoutCancel(ctx), "down").Run())
}
