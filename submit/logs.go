package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/steplog"
)

// uploadLag is how long before the end that EMR reports a log may have been uploaded and
// still be whole: the program has ended by then.
const uploadLag = 10 * time.Second

// errPartial means that a log is from before the step's end, and names no cause.
var errPartial = errors.New("the log was uploaded before the step ended")

// complete fails with errPartial if the logs name no cause, and the program may have
// written more by the step's end.
func complete(logs steplog.Logs, step *types.Step) error {
	switch t := step.Status.Timeline; {
	case logs.Search.WantsDriver():
		return errNoDriverLog
	case logs.Search.Cause() == nil && t != nil && logs.Uploaded.Before(aws.ToTime(t.EndDateTime).Add(-uploadLag)):
		return errPartial
	}
	return nil
}

// errNoDriverLog means that only the log of a driver in cluster mode names the cause.
var errNoDriverLog = fmt.Errorf("%w, or the driver's is not there", errPartial)

// readStepLogs reads the logs of an ended step. EMR uploads logs every five minutes, also
// those of a step that runs. If a failed step has no log yet, or only one from before its
// end without a cause, it waits up to o.LogWait; if a completed step has none yet, it says
// so. A log that stays partial is better than none.
func (c clients) readStepLogs(ctx context.Context, o Options, cluster types.Cluster, step *types.Step) (steplog.Logs, error) {
	from := steplog.Place{Client: c.s3, LogURI: aws.ToString(cluster.LogUri), Cluster: o.Cluster, Step: aws.ToString(step.Id)}
	if _, _, ok := steplog.Split(from.LogURI); !ok {
		return steplog.Logs{}, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q)", o.Cluster, from.LogURI)
	}
	failed := step.Status.State == types.StepStateFailed
	logs, err := from.Read(ctx)
	if err == nil && failed {
		err = complete(logs, step)
	}
	if failed && o.LogWait > 0 && (errors.Is(err, steplog.ErrNone) || errors.Is(err, errPartial)) {
		o.say("waiting up to %s for the step's log in S3: %v", o.LogWait, err)
		schedule := poll.Options{Interval: min(o.PollInterval, o.LogWait), MaxInterval: maxPollInterval, Timeout: o.LogWait}
		began, quiet := time.Now(), silence{o.Silence, time.Now()}
		err = poll.Until(ctx, schedule, func(context.Context) error { // a read that has begun may finish after LogWait
			if quiet.ends() {
				o.say("the step's log is not in S3 yet, %s of %s", time.Since(began).Round(time.Second), o.LogWait)
			}
			if logs, err = from.Read(ctx); err != nil && !errors.Is(err, steplog.ErrNone) {
				return poll.Permanent(err)
			}
			return cmp.Or(err, complete(logs, step))
		})
	}
	if errors.Is(err, errPartial) && ctx.Err() == nil {
		err = nil
	}
	switch {
	case err != nil && (ctx.Err() != nil || !errors.Is(err, steplog.ErrNone)):
		return logs, fmt.Errorf("read the step's log: %w", err)
	case err != nil && step.Status.State == types.StepStateCompleted:
		o.say("the step's log is not in S3 yet; EMR uploads logs every five minutes")
	}
	return logs, nil
}

// applicationIDs returns the YARN applications of a step: those that EMR names, else
// those in its logs.
func applicationIDs(step *types.Step, logs steplog.Logs) []string {
	if ids := steplog.Named(step.AdditionalInfo); len(ids) > 0 {
		return ids
	}
	return logs.ApplicationIDs
}
