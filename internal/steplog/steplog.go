// Package steplog reads the logs of a step that EMR archives in S3. It does not know
// what the lines mean, except for the ids of YARN's applications.
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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// MaxLineBytes is how much of a line Scan hands over at one time.
const MaxLineBytes = 1 << 14

// Controller is the log of what started the step; it exists even if that failed.
const Controller = "controller"

// ErrNone says that a log is not in S3 (yet).
var ErrNone = errors.New("no log yet")

// Outputs are the logs of what a step's program printed. A Python driver in client mode
// prints everything, errors too, to stdout: Spark's PythonRunner merges the two streams.
func Outputs() []string { return []string{"stderr", "stdout"} }

// Split divides a cluster's log URI, which EMR returns as s3n://. The prefix is "" or
// ends in a slash.
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

// Applications returns the ids in what a step's program printed, or in the controller's
// log if it printed nothing. It fails with ErrNone if no log exists.
func Applications(ctx context.Context, client *s3.Client, logURI, cluster, step string) ([]string, error) {
	bucket, prefix, ok := Split(logURI)
	if !ok {
		return nil, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q): %w", cluster, logURI, ErrNone)
	}
	var ids []string
	read := func(log string) (printed bool, err error) {
		err = Scan(ctx, client, bucket, prefix+platform.StepLogKey(cluster, step, log), func(line string, _ bool) {
			printed = true
			ids = AddApplications(ids, line)
		})
		return printed, err
	}
	none, empty := true, true
	for _, log := range append(Outputs(), Controller) {
		if log == Controller && !empty {
			break
		}
		printed, err := read(log)
		if err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
		none, empty = none && err != nil, empty && !printed
	}
	if none {
		return nil, ErrNone
	}
	return ids, nil
}

// Scan reads a log line by line. A line longer than MaxLineBytes comes in pieces; rest
// is true for all but the first. It fails with ErrNone if the log does not exist.
func Scan(ctx context.Context, client *s3.Client, bucket, key string, line func(text string, rest bool)) error {
	uri := "s3://" + bucket + "/" + key
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
	var absent *s3types.NoSuchKey
	if errors.As(err, &absent) {
		return ErrNone
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", uri, err)
	}
	defer out.Body.Close()
	unzipped, err := gzip.NewReader(out.Body)
	if err == nil {
		err = lines(unzipped, line)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", uri, err)
	}
	return nil
}

func lines(from io.Reader, take func(text string, rest bool)) error {
	reader := bufio.NewReaderSize(from, MaxLineBytes)
	for rest := false; ; {
		line, more, err := reader.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		take(string(line), rest)
		rest = more
	}
}
