package stacks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// namesObjects reports whether a schedule has its steps in S3.
func namesObjects(cfg schema.Config) bool {
	return slices.ContainsFunc(cfg.ScheduleKeys(), func(key string) bool { return cfg.Schedules[key].StepsFrom != "" })
}

// readSteps returns the configuration with the steps that schedules have in S3, as the objects are now, and prints
// which objects it read.
func readSteps(ctx *pulumi.Context, cfg schema.Config, provider *aws.Provider) (schema.Config, error) {
	texts := map[string]string{}
	var errs []error
	for _, key := range cfg.ScheduleKeys() {
		uri := cfg.Schedules[key].StepsFrom
		if uri == "" {
			continue
		}
		text, err := readObject(ctx, uri, provider)
		if err != nil {
			errs = append(errs, fmt.Errorf("%sschedules.%s.stepsFrom: %q must be an object of text that the update can read: %w",
				platform.Project+":", key, uri, err))
			continue
		}
		texts[key] = text
	}
	if len(errs) > 0 {
		return cfg, errors.Join(errs...)
	}
	cfg, warnings, err := config.WithSteps(cfg, texts)
	for _, w := range warnings {
		if logErr := ctx.Log.Warn(w.Error(), nil); logErr != nil {
			return cfg, fmt.Errorf("warn of steps: %w", logErr)
		}
	}
	if err != nil {
		return cfg, fmt.Errorf("read steps of schedules: %w", err)
	}
	for _, key := range cfg.ScheduleKeys() {
		text, read := texts[key]
		if !read {
			continue
		}
		s, sum := cfg.Schedules[key], sha256.Sum256([]byte(text))
		names := []string{}
		for _, step := range s.Steps {
			names = append(names, step.Name)
		}
		if err := ctx.Log.Info(fmt.Sprintf("schedule %s runs %s, as %s says now (sha256 %s): an edit of the object needs another update",
			key, strings.Join(names, ", "), s.StepsFrom, hex.EncodeToString(sum[:])), nil); err != nil {
			return cfg, fmt.Errorf("print which steps were read: %w", err)
		}
	}
	return cfg, nil
}

// readObject returns an object of text. The provider returns no other (terraform-provider-aws, aws_s3_object).
func readObject(ctx *pulumi.Context, uri string, provider *aws.Provider) (string, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	found, err := s3.GetObject(ctx, &s3.GetObjectArgs{Bucket: bucket, Key: key}, pulumi.Provider(provider))
	if err != nil {
		return "", fmt.Errorf("%w; upload it to a bucket of the stack's region before the update, and let this identity read it", err)
	}
	if found.Body == "" && found.ContentLength == 0 {
		return "", errors.New("it is empty; upload a JSON list of steps")
	}
	if found.Body == "" {
		return "", fmt.Errorf("its Content-Type is %q, of which the provider returns no text; upload it with --content-type application/json",
			found.ContentType)
	}
	return found.Body, nil
}
