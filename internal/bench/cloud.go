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
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
)

// cloud is the local cloud that is measured, by its state folder.
type cloud struct{ state string }

// upResult is the part of `observatory up --json` that is read here.
type upResult struct {
	Bucket  string
	Seconds map[string]float64
}

// observatory runs the CLI on this cloud and decodes the JSON that it prints.
func (c cloud) observatory(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, program, append([]string{"--state", c.state}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("observatory %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return json.Unmarshal(out, into)
}

// down takes the local cloud down, also after an interrupt.
func (c cloud) down() error {
	out, err := exec.Command(program, "--state", c.state, "down").CombinedOutput()
	if err != nil {
		return fmt.Errorf("observatory --state %s down: %w\n%s", c.state, err, out)
	}
	return nil
}

// measureWarmUp times `up` with warm caches: `tools` runs first, so builds do not
// count.
func (c cloud) measureWarmUp(ctx context.Context, r *result, _ options) error {
	if err := exec.CommandContext(ctx, program, "tools").Run(); err != nil {
		return fmt.Errorf("observatory tools: %w", err)
	}
	start := time.Now()
	var up upResult
	if err := c.observatory(ctx, &up, "up", "--json"); err != nil {
		return err
	}
	r.WarmSeconds, r.WarmParts = time.Since(start).Seconds(), up.Seconds
	return nil
}

// readBootstrapReports adds up what a node on AWS downloads, and reads from the nodes'
// own reports how long their bootstrap action took.
func (c cloud) readBootstrapReports(_ context.Context, r *result, _ options) error {
	locked, err := artifacts.LockedFor(artifacts.Release, []string{runtime.GOARCH})
	if err != nil {
		return err
	}
	for _, a := range locked {
		r.BootstrapMB += float64(a.Size) / 1e6
	}
	reports, err := filepath.Glob(filepath.Join(c.state, "machines", "*", platform.NodeReportFile))
	if err != nil || len(reports) == 0 {
		return errors.Join(err, fmt.Errorf("no bootstrap report in %s", c.state))
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
		r.BootstrapSeconds = max(r.BootstrapSeconds, report.Seconds)
	}
	return nil
}

// bucket returns the stack's data bucket.
func (c cloud) bucket(ctx context.Context) (string, error) {
	var up upResult
	err := c.observatory(ctx, &up, "up", "--no-job", "--json")
	return up.Bucket, err
}
