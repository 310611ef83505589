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
	"github.com/cenkalti/backoff/v5"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	tailLines = 40      // enough for a Java stack trace with its cause
	lineBytes = 1 << 14 // longer lines are cut
)

// printedLogs are what a step's program prints to. A Python driver in client
// mode prints all of it, errors too, to stdout: Spark's PythonRunner merges the
// two streams.
var printedLogs = []string{"stderr", "stdout"}

// controllerLog exists also where a step could not even be started.
const controllerLog = "controller"

// yarnApplication is the form of YARN's application ids.
var yarnApplication = regexp.MustCompile(`\bapplication_\d+_\d+\b`)

// printed is what a step's logs in S3 tell.
type printed struct {
	logs         []Log // those with lines
	applications []string
}

var errNoLog = errors.New("no log yet")

// printed reads the logs of an ended step. EMR uploads logs every five minutes,
// so for a failed step it waits as long as the options allow.
func (c clients) printed(ctx context.Context, o Options, cluster types.Cluster, step *types.Step) (printed, error) {
	bucket, prefix, ok := splitLogURI(aws.ToString(cluster.LogUri))
	if !ok {
		return printed{}, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q)", o.Cluster, aws.ToString(cluster.LogUri))
	}
	find := func() (printed, error) {
		return c.readLogs(ctx, bucket, func(log string) string {
			return prefix + platform.StepLogKey(o.Cluster, aws.ToString(step.Id), log)
		})
	}
	found, err := find()
	if errors.Is(err, errNoLog) && o.LogWait > 0 && step.Status.State == types.StepStateFailed {
		o.say("waiting up to %s for the step's log in S3", o.LogWait)
		pauses := backoff.NewExponentialBackOff()
		pauses.InitialInterval, pauses.MaxInterval = min(o.PollInterval, o.LogWait), maxPoll
		found, err = backoff.Retry(ctx, func() (printed, error) {
			found, err := find()
			if err != nil && !errors.Is(err, errNoLog) {
				err = backoff.Permanent(err)
			}
			return found, err
		}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(o.LogWait))
	}
	if err != nil && !errors.Is(err, errNoLog) {
		return found, fmt.Errorf("read the step's log: %w", err)
	}
	return found, nil
}

// readLogs reads what the program printed, or the controller's log where it
// printed nothing.
func (c clients) readLogs(ctx context.Context, bucket string, key func(log string) string) (printed, error) {
	var p printed
	var faults []error
	none := true
	read := func(log string) {
		err := c.readLog(ctx, bucket, key(log), &p)
		if !errors.Is(err, errNoLog) {
			none, faults = false, append(faults, err)
		}
	}
	for _, log := range printedLogs {
		read(log)
	}
	if len(p.logs) == 0 {
		read(controllerLog)
	}
	if none {
		return p, errNoLog
	}
	return p, errors.Join(faults...)
}

// splitLogURI reads a cluster's log URI, which EMR gives back as s3n://.
func splitLogURI(uri string) (bucket, prefix string, ok bool) {
	scheme, rest, _ := strings.Cut(uri, "://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return bucket, prefix, bucket != "" && slices.Contains([]string{"s3", "s3n", "s3a"}, scheme)
}

func (c clients) readLog(ctx context.Context, bucket, key string, into *printed) error {
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
		err = into.read(unzipped, &log)
	}
	if len(log.Tail) > 0 || err != nil {
		into.logs = append(into.logs, log)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", log.URI, err)
	}
	return nil
}

// read keeps a log's last lines and every application id.
func (p *printed) read(from io.Reader, log *Log) error {
	lines := bufio.NewReaderSize(from, lineBytes)
	for rest := false; ; {
		line, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, id := range yarnApplication.FindAllString(string(line), -1) {
			if !slices.Contains(p.applications, id) {
				p.applications = append(p.applications, id)
			}
		}
		if !rest {
			log.Tail = append(log.Tail, string(line))
			log.Tail = log.Tail[max(0, len(log.Tail)-tailLines):]
		}
		rest = more
	}
}

// applications are the YARN applications of a step: those that EMR names
// (Step.AdditionalInfo, service model of November 2026), else those of the log.
func applications(step *types.Step, p printed) []string {
	if info := step.AdditionalInfo; info != nil && len(info.ResourceManagerApplicationIds) > 0 {
		return info.ResourceManagerApplicationIds
	}
	return p.applications
}
