package steplog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Place is where EMR archives the logs of a step.
type Place struct {
	Client        *s3.Client
	LogURI        string // of the cluster
	Cluster, Step string
}

// Logs is what was read of a step's logs. Search has the cause of a failure.
type Logs struct {
	Tails          []Tail   // of the logs that are not empty
	ApplicationIDs []string // of YARN, in the order in which the logs name them
	Search         stepcause.Search
	Uploaded       time.Time // when the newest of them was
}

// Tail is the end of a log, up to where it could be read.
type Tail struct {
	URI   string // s3://
	Lines []string
}

const maxTailLines = 40 // enough for a Java stack trace with its cause

// Read reads what the step's program printed. Where that does not say why it failed, Read goes on
// with the controller's log, the log of a driver in cluster mode, and the logs of the executor
// whose loss ended the application. It fails with ErrNone if the step has no log.
func (p Place) Read(ctx context.Context) (Logs, error) {
	bucket, prefix, ok := Split(p.LogURI)
	if !ok {
		return Logs{}, fmt.Errorf("cluster %s keeps no logs in S3 (log URI %q): %w", p.Cluster, p.LogURI, ErrNone)
	}
	r := reader{Place: p, bucket: bucket, prefix: prefix}
	var errs []error
	none := true
	read := func(log string, kind stepcause.Kind) {
		err := r.log(ctx, prefix+platform.StepLogKey(p.Cluster, p.Step, log), kind)
		if !errors.Is(err, ErrNone) {
			none, errs = false, append(errs, err)
		}
	}
	for _, log := range Outputs() {
		read(log, stepcause.Output)
	}
	if r.logs.Search.WantsController() {
		read(Controller, stepcause.Controller)
	}
	if none {
		return r.logs, ErrNone
	}
	if r.logs.Search.WantsDriver() {
		errs = append(errs, r.drivers(ctx))
	}
	if r.logs.Search.WantsExecutors() {
		errs = append(errs, r.lostExecutor(ctx))
	}
	return r.logs, errors.Join(errs...)
}

// reader reads the logs of a step.
type reader struct {
	Place
	bucket, prefix string
	logs           Logs
}

// drivers reads the logs of the container of the last application's last driver, if they are
// there: the first container of an attempt.
func (r *reader) drivers(ctx context.Context) error {
	containers, err := r.containers(ctx, platform.DriverContainerSuffix)
	if err != nil || len(containers) == 0 {
		return err
	}
	var errs []error
	for _, key := range containers[slices.Max(slices.Collect(maps.Keys(containers)))] {
		errs = append(errs, r.log(ctx, key, stepcause.Driver))
	}
	return errors.Join(errs...)
}

// lostExecutor reads the logs of the container whose loss ended the application, if they are
// there. EMR uploads them with those of the step.
func (r *reader) lostExecutor(ctx context.Context) error {
	lost := r.logs.Search.LostContainer()
	if lost == "" {
		return nil
	}
	containers, err := r.containers(ctx, lost)
	if err != nil {
		return err
	}
	var errs []error
	for _, keys := range containers {
		for _, key := range keys {
			_, err := Scan(ctx, r.Client, r.bucket, key, func(line string, _ bool) { r.logs.Search.AddExecutor(line) })
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// containers returns the keys of the output logs of those of the last application's containers
// whose ids end in a suffix, by the containers' folders.
func (r *reader) containers(ctx context.Context, suffix string) (map[string][]string, error) {
	ids := r.logs.ApplicationIDs
	if len(ids) == 0 {
		return nil, nil
	}
	prefix := r.prefix + platform.ContainerLogPrefix(r.Cluster, ids[len(ids)-1])
	found := map[string][]string{}
	pages := s3.NewListObjectsV2Paginator(r.Client, &s3.ListObjectsV2Input{Bucket: aws.String(r.bucket), Prefix: aws.String(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the logs of containers, s3://%s/%s: %w", r.bucket, prefix, err)
		}
		for _, object := range page.Contents {
			folder, log := path.Split(aws.ToString(object.Key))
			if strings.HasSuffix(folder, suffix+"/") && slices.Contains(Outputs(), strings.TrimSuffix(log, ".gz")) {
				found[folder] = append(found[folder], folder+log)
			}
		}
	}
	return found, nil
}

// log keeps a log's last lines, every application id in it, and the cause of a failure. It fails
// with ErrNone if the log does not exist.
func (r *reader) log(ctx context.Context, key string, kind stepcause.Kind) error {
	tail := Tail{URI: "s3://" + r.bucket + "/" + key}
	var finder stepcause.Finder
	shown := kind != stepcause.Controller || len(r.logs.Tails) == 0 // beside others, it has the exit code only
	uploaded, err := Scan(ctx, r.Client, r.bucket, key, func(line string, rest bool) {
		if shown {
			r.logs.ApplicationIDs = AddApplications(r.logs.ApplicationIDs, line)
		}
		if !rest {
			finder.Add(line)
			tail.Lines = append(tail.Lines, line)
			tail.Lines = tail.Lines[max(0, len(tail.Lines)-maxTailLines):]
		}
	})
	if errors.Is(err, ErrNone) {
		return err
	}
	if uploaded.After(r.logs.Uploaded) {
		r.logs.Uploaded = uploaded
	}
	r.logs.Search.Add(tail.URI, kind, &finder)
	if shown && (len(tail.Lines) > 0 || err != nil) {
		r.logs.Tails = append(r.logs.Tails, tail)
	}
	return err
}
