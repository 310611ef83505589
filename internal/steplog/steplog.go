// Package steplog reads the logs of a step that EMR archives in S3: the ids of YARN applications
// in them, their last lines, and through package stepcause why the step failed.
package steplog

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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// MaxLineBytes is the largest piece of a line that Scan passes on.
const MaxLineBytes = 1 << 14

// Controller is the log of the process that starts the step. It exists even if the step did
// not start.
const Controller = "controller"

// ErrNone means that a log is not in S3, or not yet.
var ErrNone = errors.New("no log yet")

// Outputs returns the logs of the output of a step's program. A Python driver in client mode
// prints everything to stdout, including errors: Spark's PythonRunner merges the streams.
func Outputs() []string { return []string{"stderr", "stdout"} }

// Split splits a cluster's log URI, which EMR returns as s3n://. The prefix is "" or ends
// in a slash. ok reports whether the URI is in S3.
func Split(uri string) (bucket, prefix string, ok bool) {
	scheme, rest, _ := strings.Cut(uri, "://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return bucket, prefix, bucket != "" && slices.Contains([]string{"s3", "s3n", "s3a"}, scheme)
}

// Named returns the YARN applications that EMR itself names for a step
// (Step.AdditionalInfo, service model of November 2026).
func Named(info *types.StepAdditionalInfo) []string {
	if info == nil {
		return nil
	}
	return info.ResourceManagerApplicationIds
}

// yarnApplication matches YARN's application ids.
var yarnApplication = regexp.MustCompile(`\b` + platform.YARNApplicationID + `\b`)

// AddApplications appends the application ids of a line that are not in ids.
func AddApplications(ids []string, line string) []string {
	for _, id := range yarnApplication.FindAllString(line, -1) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Applications returns the application ids in the output of a step's program, or in the
// controller's log if there is no output. It fails with ErrNone if no log exists.
func Applications(ctx context.Context, client *s3.Client, logURI, cluster, step string) ([]string, error) {
	bucket, prefix, ok := Split(logURI)
	if !ok {
		return nil, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q): %w", cluster, logURI, ErrNone)
	}
	var ids []string
	none, empty := true, true
	for _, log := range append(Outputs(), Controller) {
		if log == Controller && !empty {
			break
		}
		_, err := Scan(ctx, client, bucket, prefix+platform.StepLogKey(cluster, step, log), func(line string, _ bool) {
			empty = false
			ids = AddApplications(ids, line)
		})
		if err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
		none = none && err != nil
	}
	if none {
		return nil, ErrNone
	}
	return ids, nil
}

// Scan reads a log line by line. It passes a line longer than MaxLineBytes in pieces; rest
// is true for all but the first. It returns when the log was uploaded, and fails with
// ErrNone if the log does not exist.
func Scan(ctx context.Context, client *s3.Client, bucket, key string, line func(text string, rest bool)) (time.Time, error) {
	uri := "s3://" + bucket + "/" + key
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
	var absent *s3types.NoSuchKey
	if errors.As(err, &absent) {
		return time.Time{}, ErrNone
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read %s: %w", uri, err)
	}
	defer out.Body.Close()
	unzipped, err := gzip.NewReader(out.Body)
	if err == nil {
		err = lines(unzipped, line)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read %s: %w", uri, err)
	}
	return aws.ToTime(out.LastModified), nil
}

func lines(from io.Reader, line func(text string, rest bool)) error {
	reader := bufio.NewReaderSize(from, MaxLineBytes)
	for rest := false; ; {
		text, more, err := reader.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line(string(text), rest)
		rest = more
	}
}
