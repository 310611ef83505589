package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/internal/processes"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// jobCost is EMR's duration of a step and the machine's CPU time from its
// submission to its end, in seconds.
type jobCost struct{ duration, cpu float64 }

// job runs the example job as a step; conf are further options of spark-submit.
func (c cloud) job(ctx context.Context, bucket string, o options, conf ...string) (jobCost, error) {
	before, err := machineCPU()
	if err != nil {
		return jobCost{}, err
	}
	var step submit.Result
	args := slices.Concat([]string{"submit", "--wait", "--json", "--phases-wait", "0"}, conf,
		[]string{"examples/jobs/orders.py", platform.PrefixLake.URI(bucket) + "bench", strconv.Itoa(o.rows)})
	if err := c.observatory(ctx, &step, args...); err != nil {
		return jobCost{}, err
	}
	after, err := machineCPU()
	return jobCost{step.Ended.Sub(*step.Started).Seconds(), after - before}, err
}

// way is how a job is observed.
type way int

const (
	observed way = iota
	withoutPlugin
	withoutTelemetry
	ways
)

// measureJobPairs runs the job with telemetry, without the Spark plugin and without
// telemetry, by turns.
func (c cloud) measureJobPairs(ctx context.Context, r *result, o options) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	var durations, cpu, cpuRatios, pluginCPU []float64
	for i := range o.pairs {
		costs, err := c.jobTurn(ctx, bucket, o, i)
		if err != nil {
			return err
		}
		all, plugin, without := costs[observed], costs[withoutPlugin], costs[withoutTelemetry]
		logf("turn %d: %.1f s with telemetry, %.1f s without the plugin, %.1f s without (CPU of the machine %.1f s, %.1f s, %.1f s)",
			i+1, all.duration, plugin.duration, without.duration, all.cpu, plugin.cpu, without.cpu)
		durations, cpu = append(durations, without.duration), append(cpu, without.cpu)
		r.Ratios, cpuRatios = append(r.Ratios, all.duration/without.duration), append(cpuRatios, all.cpu/without.cpu)
		r.PluginRatios, pluginCPU = append(r.PluginRatios, all.duration/plugin.duration), append(pluginCPU, all.cpu/plugin.cpu)
	}
	r.Ratio, r.Pairs, r.WithoutSeconds = stats.Median(r.Ratios), o.pairs, stats.Median(durations)
	r.CPURatio, r.jobFigures.CPUWithout = stats.Median(cpuRatios), stats.Median(cpu)
	r.PluginRatio, r.PluginCPURatio = stats.Median(r.PluginRatios), stats.Median(pluginCPU)
	return nil
}

// jobTurn runs the job once in each way, each turn in another order.
func (c cloud) jobTurn(ctx context.Context, bucket string, o options, turn int) (costs [ways]jobCost, err error) {
	for i := range ways {
		switch w := (way(turn) + i) % ways; w {
		case observed:
			costs[w], err = c.job(ctx, bucket, o)
		case withoutPlugin: // the list in which the launcher names it
			costs[w], err = c.job(ctx, bucket, o, "--conf", "spark.plugins.defaultList=")
		default:
			costs[w], err = c.jobWithoutTelemetry(ctx, bucket, o)
		}
		if err != nil {
			return costs, err
		}
	}
	return costs, nil
}

// catchUp is how long node collectors may read what was logged while they were
// stopped, so that the next job does not pay for it.
const catchUp = 10 * time.Second

// jobWithoutTelemetry runs the job without the launcher in its JVMs while the
// node collectors are stopped.
func (c cloud) jobWithoutTelemetry(ctx context.Context, bucket string, o options) (jobCost, error) {
	err := signalCollectors(c.state, syscall.SIGSTOP)
	var cost jobCost
	if err == nil {
		cost, err = c.job(ctx, bucket, o, "--conf", "spark.driver.defaultJavaOptions=", "--conf", "spark.executor.defaultJavaOptions=")
	}
	return cost, errors.Join(err, signalCollectors(c.state, syscall.SIGCONT), sleep(ctx, catchUp))
}

func signalCollectors(state string, signal syscall.Signal) error {
	found, err := processes.Of(state)
	if err != nil {
		return err
	}
	signalled := 0
	for _, p := range found {
		if consumerOf(p.Args) == nodeCollectors {
			signalled++
			err = errors.Join(err, syscall.Kill(p.PID, signal))
		}
	}
	if signalled == 0 {
		return errors.Join(err, fmt.Errorf("no %s runs in %s", filepath.Base(platform.NodeCollectorBinary), state))
	}
	return err
}

// measureJobProcesses reads memory and CPU time of all processes once a second
// during a job. The job is not timed: reading the memory maps costs a fifth of
// its CPU time.
func (c cloud) measureJobProcesses(ctx context.Context, r *result, o options) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	before, err := processes.Of(c.state)
	if err != nil {
		return err
	}
	var ledger cpuLedger
	if err := ledger.record(before); err != nil {
		return err
	}
	stop := everySecond(ctx, func() error {
		found, err := processes.Of(c.state)
		if err != nil {
			return err
		}
		if now := processes.Memory(found); processes.Total(now) > processes.Total(r.JobMiB) {
			r.JobMiB = now
		}
		return ledger.record(found)
	})
	start := time.Now()
	_, err = c.job(ctx, bucket, o)
	took := time.Since(start)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	r.JobGiB = processes.Total(r.JobMiB) / 1024
	if r.jobCPU, err = ledger.attribute(); err != nil {
		return err
	}
	for _, p := range before {
		if consumerOf(p.Args) == nodeCollectors {
			r.ControlNodes++
		}
	}
	r.ControlCPUPerNode = (r.ControlCollector + r.Redelivery + r.Stores) / took.Seconds() / float64(r.ControlNodes)
	return nil
}
