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
	"github.com/aws/aws-sdk-go-v2/service/emr"
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

// stepLogs are the logs that explain a step, the most telling first. Where a
// step could not even be started only the controller's exists.
var stepLogs = []string{"stderr", "controller"}

// yarnApplication is the form of YARN's application ids.
var yarnApplication = regexp.MustCompile(`\bapplication_\d+_\d+\b`)

// stepLog is what a step's log in S3 tells.
type stepLog struct {
	uri          string
	tail         []string
	applications []string
	err          error
}

var errNoLog = errors.New("no log yet")

// stepLog reads the log of an ended step. EMR uploads logs every five minutes,
// so for a failed step it waits as long as the options allow.
func (c clients) stepLog(ctx context.Context, o Options, step *types.Step) stepLog {
	out, err := c.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(o.Cluster)})
	if err != nil {
		return stepLog{err: fmt.Errorf("find the step's log: %w", err)}
	}
	bucket, prefix, ok := splitLogURI(aws.ToString(out.Cluster.LogUri))
	if !ok {
		return stepLog{err: fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q)", o.Cluster, aws.ToString(out.Cluster.LogUri))}
	}
	find := func() (stepLog, error) {
		for _, name := range stepLogs {
			log, err := c.readLog(ctx, bucket, prefix+platform.StepLogKey(o.Cluster, aws.ToString(step.Id), name))
			if !errors.Is(err, errNoLog) {
				return log, err
			}
		}
		return stepLog{}, errNoLog
	}
	log, err := find()
	if errors.Is(err, errNoLog) && o.LogWait > 0 && step.Status.State == types.StepStateFailed {
		o.say("waiting up to %s for the step's log in S3", o.LogWait)
		pauses := backoff.NewExponentialBackOff()
		pauses.InitialInterval, pauses.MaxInterval = min(o.PollInterval, o.LogWait), maxPoll
		log, err = backoff.Retry(ctx, func() (stepLog, error) {
			log, err := find()
			if err != nil && !errors.Is(err, errNoLog) {
				err = backoff.Permanent(err)
			}
			return log, err
		}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(o.LogWait))
	}
	if err != nil && !errors.Is(err, errNoLog) {
		log.err = fmt.Errorf("read the step's log: %w", err)
	}
	return log
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

func (c clients) readLog(ctx context.Context, bucket, key string) (stepLog, error) {
	log := stepLog{uri: "s3://" + bucket + "/" + key}
	out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
	var absent *s3types.NoSuchKey
	if errors.As(err, &absent) {
		return stepLog{}, errNoLog
	}
	if err != nil {
		return stepLog{}, fmt.Errorf("%s: %w", log.uri, err)
	}
	defer out.Body.Close()
	unzipped, err := gzip.NewReader(out.Body)
	if err != nil {
		return log, fmt.Errorf("%s: %w", log.uri, err)
	}
	if err := log.read(unzipped); err != nil {
		return log, fmt.Errorf("%s: %w", log.uri, err)
	}
	return log, nil
}

// read keeps the last lines and every application id.
func (l *stepLog) read(from io.Reader) error {
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
			if !slices.Contains(l.applications, id) {
				l.applications = append(l.applications, id)
			}
		}
		if !rest {
			l.tail = append(l.tail, string(line))
			l.tail = l.tail[max(0, len(l.tail)-tailLines):]
		}
		rest = more
	}
}

// applications are the YARN applications of a step: those that EMR names
// (Step.AdditionalInfo, service model of November 2026), else those of the log.
func applications(step *types.Step, log stepLog) []string {
	if info := step.AdditionalInfo; info != nil && len(info.ResourceManagerApplicationIds) > 0 {
		return info.ResourceManagerApplicationIds
	}
	return log.applications
}
