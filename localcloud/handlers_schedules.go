package localcloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/localcloud/scheduler"
	"github.com/emr-observatory/emr-observatory/localcloud/sqs"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// openSchedules opens EventBridge Scheduler and SQS.
func (c *cloud) openSchedules() error {
	c.queues = &sqs.Service{Path: filepath.Join(c.State, "queues.json"), Clock: clock.RealClock{}, Log: c.log}
	if err := c.queues.Open(); err != nil {
		return err
	}
	c.schedules = &scheduler.Service{
		Path: filepath.Join(c.State, "schedules.json"), Clock: clock.RealClock{}, Log: c.log, Call: c.callTarget,
		Lose: func(_ context.Context, queue string, lost scheduler.Lost) error {
			return c.queues.Send(queue, lost.Input, lost.Attributes())
		},
	}
	return c.schedules.Open()
}

// callTarget calls EMR's API with the key of a schedule's role, if the role's policies allow it.
func (c *cloud) callTarget(ctx context.Context, of scheduler.Schedule, input []byte) error {
	operation, needs, err := c.emrCall(of.Target, input)
	if err != nil {
		return err
	}
	group := strings.Replace(strings.TrimSuffix(of.ARN, "/"+path.Base(of.ARN)), ":schedule/", ":schedule-group/", 1)
	key, err := c.objects.Roles.AssumeForService(ctx, path.Base(of.Role), "scheduler.amazonaws.com", group, needs...)
	if errors.Is(err, s3.ErrDenied) {
		return &scheduler.CallError{Code: "AccessDeniedException", Message: err.Error()}
	}
	if err != nil {
		return fmt.Errorf("assume %s: %w", of.Role, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+serviceAddress(portEMR), bytes.NewReader(input))
	if err != nil {
		return fmt.Errorf("call EMR: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.1")
	request.Header.Set("X-Amz-Target", "ElasticMapReduce."+operation)
	sum := sha256.Sum256(input)
	if err := v4.NewSigner().SignHTTP(ctx, aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}, request,
		hex.EncodeToString(sum[:]), "elasticmapreduce", AWSRegion, time.Now()); err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("call EMR: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read EMR's answer: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var refusal struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &refusal)
	return &scheduler.CallError{
		Code: refusal.Type, Message: refusal.Message,
		Retryable: response.StatusCode >= http.StatusInternalServerError || strings.Contains(refusal.Type, "Throttling"),
	}
}

// emrTarget is the service of the universal targets that the local cloud calls.
const emrTarget = ":scheduler:::aws-sdk:emr:"

// emrCall returns the operation of a target, and what its caller must be allowed.
func (c *cloud) emrCall(target string, input []byte) (string, []s3.Access, error) {
	var call struct { // JSON's names are compared without case
		JobFlowID                                 string
		ServiceRole, JobFlowRole, AutoScalingRole string
		Tags                                      []struct{ Key, Value string }
	}
	if err := json.Unmarshal(input, &call); err != nil {
		return "", nil, &scheduler.CallError{Code: "SerializationException", Message: err.Error()}
	}
	_, operation, _ := strings.Cut(target, emrTarget)
	const clusters = "arn:aws:elasticmapreduce:" + AWSRegion + ":" + AccountID + ":cluster/"
	switch operation {
	case "addJobFlowSteps":
		return "AddJobFlowSteps", []s3.Access{{Action: "elasticmapreduce:AddJobFlowSteps", Resource: clusters + call.JobFlowID}}, nil
	case "runJobFlow":
		run := s3.Access{Action: "elasticmapreduce:RunJobFlow", Resource: "*", Context: map[string]string{"aws:RequestedRegion": AWSRegion}}
		for _, tag := range call.Tags {
			run.Context["elasticmapreduce:RequestTag/"+tag.Key] = tag.Value
		}
		ofNodes, err := c.objects.Roles.OfProfile(path.Base(call.JobFlowRole))
		if err != nil {
			return "", nil, &scheduler.CallError{Code: "ValidationException", Message: err.Error()}
		}
		tags := s3.Access{Action: "elasticmapreduce:AddTags", Resource: clusters + "*", Context: run.Context}
		needs := []s3.Access{run, tags, passes(call.ServiceRole, "elasticmapreduce"), passes(ofNodes, "ec2")}
		if call.AutoScalingRole != "" {
			needs = append(needs, passes(call.AutoScalingRole, "application-autoscaling"))
		}
		return "RunJobFlow", needs, nil
	default:
		return "", nil, &scheduler.CallError{
			Code: "UnsupportedTarget", Message: "the local cloud calls " + emrTarget + "addJobFlowSteps and runJobFlow, not " + target,
		}
	}
}

// passes is the access of whoever gives a role to a service.
func passes(role, service string) s3.Access {
	to := map[string]string{"iam:PassedToService": service + ".amazonaws.com"}
	return s3.Access{Action: s3.PassRole, Resource: path.Base(role), Context: to}
}

// scheduleParts returns the resources of EventBridge Scheduler and SQS that are real.
func (c *cloud) scheduleParts() map[string]part {
	return map[string]part{
		"aws:scheduler/schedule:Schedule": {
			put: func(_ context.Context, r simulator.Result) error { return c.schedules.Put(scheduleOf(r)) },
			exists: func(_ context.Context, r simulator.Result) (bool, error) {
				return c.schedules.Exists(r.ID), nil
			},
			remove: func(_ context.Context, r simulator.Request) error { return c.schedules.Delete(r.ID) },
		},
		"aws:sqs/queue:Queue": {
			put: func(_ context.Context, r simulator.Result) error {
				return c.queues.Put(sqs.Queue{
					URL: r.ID, ARN: text(r.Outputs, "arn"), Retention: seconds(r.Outputs["messageRetentionSeconds"]),
					Visibility: seconds(r.Outputs["visibilityTimeoutSeconds"]),
				})
			},
			exists: func(_ context.Context, r simulator.Result) (bool, error) { return c.queues.Exists(r.ID), nil },
			remove: func(_ context.Context, r simulator.Request) error { return c.queues.Delete(r.ID) },
		},
	}
}

// scheduleOf reads a schedule's outputs.
func scheduleOf(r simulator.Result) scheduler.Schedule {
	target := object(r.Outputs["target"])
	retries := object(target["retryPolicy"])
	return scheduler.Schedule{
		ID: r.ID, ARN: text(r.Outputs, "arn"), Expression: text(r.Outputs, "scheduleExpression"),
		Zone: text(r.Outputs, "scheduleExpressionTimezone"), Start: date(r.Outputs, "startDate"), End: date(r.Outputs, "endDate"),
		Enabled: text(r.Outputs, "state") == "ENABLED", Target: text(target, "arn"), Role: text(target, "roleArn"),
		Input: text(target, "input"), Queue: text(object(target["deadLetterConfig"]), "arn"),
		Retries: number(retries, "maximumRetryAttempts"), MaxAge: seconds(retries["maximumEventAgeInSeconds"]),
	}
}

func object(v resource.PropertyValue) resource.PropertyMap {
	if v.IsObject() {
		return v.ObjectValue()
	}
	return resource.PropertyMap{}
}

// date reads a time; the zero time if it is not set.
func date(m resource.PropertyMap, key resource.PropertyKey) time.Time {
	t, _ := time.Parse(time.RFC3339, text(m, key))
	return t
}

// seconds reads a duration; 0 if it is not set.
func seconds(v resource.PropertyValue) time.Duration {
	if v.IsNumber() {
		return time.Duration(v.NumberValue()) * time.Second
	}
	return 0
}
