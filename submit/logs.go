package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/internal/steplog"
	"github.com/emr-observatory/emr-observatory/platform"
)

const maxTailLines = 40 // enough for a Java stack trace with its cause

// stepLogs is what was read of a step's logs in S3.
type stepLogs struct {
	tails          []Log // of the logs that are not empty
	applicationIDs []string
	search         stepcause.Search
	uploaded       time.Time // when the newest of them was
}

// uploadLag is how long before the end that EMR reports a log may have been uploaded and
// still be whole: the program has ended by then.
const uploadLag = 10 * time.Second

// errPartial means that a log is from before the step's end, and names no cause.
var errPartial = errors.New("the log was uploaded before the step ended")

// complete fails with errPartial if the logs name no cause, and the program may have
// written more by the step's end.
func (l stepLogs) complete(step *types.Step) error {
	switch t := step.Status.Timeline; {
	case l.search.WantsDriver():
		return errNoDriverLog
	case l.search.Cause() == nil && t != nil && l.uploaded.Before(aws.ToTime(t.EndDateTime).Add(-uploadLag)):
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
func (c clients) readStepLogs(ctx context.Context, o Options, cluster types.Cluster, step *types.Step) (stepLogs, error) {
	bucket, prefix, ok := steplog.Split(aws.ToString(cluster.LogUri))
	if !ok {
		return stepLogs{}, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q)", o.Cluster, aws.ToString(cluster.LogUri))
	}
	read := func() (stepLogs, error) {
		return c.readLogs(ctx, bucket, func(log string) string {
			return prefix + platform.StepLogKey(o.Cluster, aws.ToString(step.Id), log)
		}, func(application string) string { return prefix + platform.ContainerLogPrefix(o.Cluster, application) })
	}
	failed := step.Status.State == types.StepStateFailed
	logs, err := read()
	if err == nil && failed {
		err = logs.complete(step)
	}
	if failed && o.LogWait > 0 && (errors.Is(err, steplog.ErrNone) || errors.Is(err, errPartial)) {
		o.say("waiting up to %s for the step's log in S3: %v", o.LogWait, err)
		schedule := poll.Options{Interval: min(o.PollInterval, o.LogWait), MaxInterval: maxPollInterval, Timeout: o.LogWait}
		began, quiet := time.Now(), silence{o.Silence, time.Now()}
		err = poll.Until(ctx, schedule, func(context.Context) error { // a read that has begun may finish after LogWait
			if quiet.ends() {
				o.say("the step's log is not in S3 yet, %s of %s", time.Since(began).Round(time.Second), o.LogWait)
			}
			if logs, err = read(); err != nil && !errors.Is(err, steplog.ErrNone) {
				return poll.Permanent(err)
			}
			return cmp.Or(err, logs.complete(step))
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

// readLogs reads what the program printed, the controller's log if that names no exception,
// and the log of a driver in cluster mode. It fails with steplog.ErrNone if no log exists.
func (c clients) readLogs(ctx context.Context, bucket string, key func(log string) string,
	drivers func(application string) string) (stepLogs, error) {
	var logs stepLogs
	var errs []error
	none := true
	read := func(log string, kind stepcause.Kind) {
		err := c.readLog(ctx, bucket, key(log), kind, &logs)
		if !errors.Is(err, steplog.ErrNone) {
			none, errs = false, append(errs, err)
		}
	}
	for _, log := range steplog.Outputs() {
		read(log, stepcause.Output)
	}
	if logs.search.WantsController() {
		read(steplog.Controller, stepcause.Controller)
	}
	if none {
		return logs, steplog.ErrNone
	}
	if ids := logs.applicationIDs; logs.search.WantsDriver() && len(ids) > 0 {
		errs = append(errs, c.readDriverLogs(ctx, bucket, drivers(ids[len(ids)-1]), &logs))
	}
	return logs, errors.Join(errs...)
}

// readDriverLogs reads the logs of the container of an application's last driver, if they
// are there: the first container of an attempt.
func (c clients) readDriverLogs(ctx context.Context, bucket, prefix string, logs *stepLogs) error {
	containers := map[string][]string{}
	pages := s3.NewListObjectsV2Paginator(c.s3, &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list the logs of the driver, s3://%s/%s: %w", bucket, prefix, err)
		}
		for _, object := range page.Contents {
			folder, log := path.Split(aws.ToString(object.Key))
			if strings.HasSuffix(folder, platform.DriverContainerSuffix+"/") && slices.Contains(steplog.Outputs(), strings.TrimSuffix(log, ".gz")) {
				containers[folder] = append(containers[folder], folder+log)
			}
		}
	}
	if len(containers) == 0 {
		return nil
	}
	var errs []error
	for _, key := range containers[slices.Max(slices.Collect(maps.Keys(containers)))] {
		errs = append(errs, c.readLog(ctx, bucket, key, stepcause.Driver, logs))
	}
	return errors.Join(errs...)
}

// readLog keeps a log's last lines, every application id in it, and the cause of a
// failure, or fails with steplog.ErrNone.
func (c clients) readLog(ctx context.Context, bucket, key string, kind stepcause.Kind, logs *stepLogs) error {
	log := Log{URI: "s3://" + bucket + "/" + key}
	var finder stepcause.Finder
	shown := kind != stepcause.Controller || len(logs.tails) == 0 // beside others, it tells the exit code only
	uploaded, err := steplog.Scan(ctx, c.s3, bucket, key, func(line string, rest bool) {
		if shown {
			logs.applicationIDs = steplog.AddApplications(logs.applicationIDs, line)
		}
		if !rest {
			finder.Add(line)
			log.Tail = append(log.Tail, line)
			log.Tail = log.Tail[max(0, len(log.Tail)-maxTailLines):]
		}
	})
	if errors.Is(err, steplog.ErrNone) {
		return err
	}
	if uploaded.After(logs.uploaded) {
		logs.uploaded = uploaded
	}
	logs.search.Add(log.URI, kind, &finder)
	if shown && (len(log.Tail) > 0 || err != nil) {
		logs.tails = append(logs.tails, log)
	}
	return err
}

// applicationIDs returns the YARN applications of a step: those that EMR names, else
// those in its logs.
func applicationIDs(step *types.Step, logs stepLogs) []string {
	if ids := steplog.Named(step.AdditionalInfo); len(ids) > 0 {
		return ids
	}
	return logs.applicationIDs
}
