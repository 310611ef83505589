package submit

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	maxTailLines = 40      // enough for a Java stack trace with its cause
	maxLineBytes = 1 << 14 // longer lines are cut
)

// outputLogs hold what a step's program printed. A Python driver in client mode
// prints everything, errors too, to stdout: Spark's PythonRunner merges the two
// streams.
var outputLogs = []string{"stderr", "stdout"}

// controllerLog exists even if a step could not be started.
const controllerLog = "controller"

// yarnApplication matches YARN's application ids.
var yarnApplication = regexp.MustCompile(`\b` + platform.YARNApplicationID + `\b`)

// stepLogs is what was read of a step's logs in S3.
type stepLogs struct {
	tails          []Log // of the logs that are not empty
	applicationIDs []string
	cause          finding // of all logs; its weight is noCause if they name no cause
}

var errNoLog = errors.New("no log yet")

// readStepLogs reads the logs of an ended step. If a failed step has none yet, it
// waits up to o.LogWait; if a completed step has none yet, it says so.
func (c clients) readStepLogs(ctx context.Context, o Options, cluster types.Cluster, step *types.Step) (stepLogs, error) {
	bucket, prefix, ok := splitLogURI(aws.ToString(cluster.LogUri))
	if !ok {
		return stepLogs{}, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q)", o.Cluster, aws.ToString(cluster.LogUri))
	}
	read := func() (stepLogs, error) {
		return c.readLogs(ctx, bucket, func(log string) string {
			return prefix + platform.StepLogKey(o.Cluster, aws.ToString(step.Id), log)
		})
	}
	logs, err := read()
	if errors.Is(err, errNoLog) && o.LogWait > 0 && step.Status.State == types.StepStateFailed {
		o.say("waiting up to %s for the step's log in S3", o.LogWait)
		schedule := poll.Options{Interval: min(o.PollInterval, o.LogWait), MaxInterval: maxPollInterval, Timeout: o.LogWait}
		err = poll.Until(ctx, schedule, func(context.Context) error { // a read that has begun may finish after LogWait
			if logs, err = read(); err != nil && !errors.Is(err, errNoLog) {
				return poll.Permanent(err)
			}
			return err
		})
	}
	switch {
	case err != nil && (ctx.Err() != nil || !errors.Is(err, errNoLog)):
		return logs, fmt.Errorf("read the step's log: %w", err)
	case err != nil && step.Status.State == types.StepStateCompleted:
		o.say("the step's log is not in S3 yet; EMR uploads logs every five minutes")
	}
	return logs, nil
}

// readLogs reads what the program printed, or the controller's log if it printed
// nothing. It fails with errNoLog if no log exists.
func (c clients) readLogs(ctx context.Context, bucket string, key func(log string) string) (stepLogs, error) {
	var logs stepLogs
	var errs []error
	none := true
	read := func(log string) {
		err := c.readLog(ctx, bucket, key(log), &logs)
		if !errors.Is(err, errNoLog) {
			none, errs = false, append(errs, err)
		}
	}
	for _, log := range outputLogs {
		read(log)
	}
	if len(logs.tails) == 0 {
		read(controllerLog)
	}
	if none {
		return logs, errNoLog
	}
	return logs, errors.Join(errs...)
}

// splitLogURI splits a cluster's log URI, which EMR returns as s3n://.
func splitLogURI(uri string) (bucket, prefix string, ok bool) {
	scheme, rest, _ := strings.Cut(uri, "://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return bucket, prefix, bucket != "" && slices.Contains([]string{"s3", "s3n", "s3a"}, scheme)
}

// readLog adds the lines and application ids of one log, or fails with errNoLog.
func (c clients) readLog(ctx context.Context, bucket, key string, logs *stepLogs) error {
	log := Log{URI: "s3://" + bucket + "/" + key}
	out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
	var absent *s3types.NoSuchKey
	if errors.As(err, &absent) {
		return errNoLog
	}
	if err != nil {
		return fmt.Errorf("%s: %w", log.URI, err)
	}
	defer out.Body.Close()
	unzipped, err := gzip.NewReader(out.Body)
	if err == nil {
		err = logs.scan(unzipped, &log)
	}
	if len(log.Tail) > 0 || err != nil {
		logs.tails = append(logs.tails, log)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", log.URI, err)
	}
	return nil
}

// scan keeps a log's last lines, every application id in it, and the cause of a failure.
func (s *stepLogs) scan(from io.Reader, log *Log) error {
	var finder causeFinder
	defer func() {
		if found := finder.cause(); found.weight > s.cause.weight {
			s.cause = found
			s.cause.Log = log.URI
		}
	}()
	lines := bufio.NewReaderSize(from, maxLineBytes)
	for rest := false; ; {
		line, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, id := range yarnApplication.FindAllString(string(line), -1) {
			if !slices.Contains(s.applicationIDs, id) {
				s.applicationIDs = append(s.applicationIDs, id)
			}
		}
		if !rest {
			finder.add(string(line))
			log.Tail = append(log.Tail, string(line))
			log.Tail = log.Tail[max(0, len(log.Tail)-maxTailLines):]
		}
		rest = more
	}
}

// applicationIDs returns the YARN applications of a step: those that EMR names
// (Step.AdditionalInfo, service model of November 2026), else those in its logs.
func applicationIDs(step *types.Step, logs stepLogs) []string {
	if info := step.AdditionalInfo; info != nil && len(info.ResourceManagerApplicationIds) > 0 {
		return info.ResourceManagerApplicationIds
	}
	return logs.applicationIDs
}
