package schedules_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/schedules"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const scheduleType = "aws:scheduler/schedule:Schedule"

func at(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// nightly is a schedule with every default.
func nightly(change ...func(*schema.Schedule)) schema.Schedule {
	var s schema.Schedule
	s.SetDefaults()
	var step schema.Step
	step.SetDefaults()
	step.Name, step.Args = "load", []string{"spark-submit", "s3://bucket/<load>.py"}
	s.Expression, s.Cluster, s.Steps = "cron(0 2 * * ? *)", "lake", []schema.Step{step}
	for _, f := range change {
		f(&s)
	}
	return s
}

func run(t *testing.T, args *schedules.Args) (*recorder.Recording, error) {
	t.Helper()
	return recorder.Run(func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		_, err = schedules.New(ctx, "schedules", args, pulumi.Providers(p))
		return err
	}, recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com"}))
}

func validArgs(of map[string]schema.Schedule) *schedules.Args {
	return &schedules.Args{
		Region: "us-east-1", Schedules: of,
		Clusters: map[string]schedules.Cluster{"lake": {ID: pulumi.String("j-1")}, "other": {ID: pulumi.String("j-2")}},
		Now:      func() time.Time { return at("2027-01-01T00:00:00Z") }, ControlRoleName: pulumi.String("control"),
	}
}

func one(t *testing.T, rec *recorder.Recording, token, name string) map[string]any {
	t.Helper()
	for _, r := range rec.Resources {
		if r.Type == token && r.Name == name {
			return r.Inputs.Mappable()
		}
	}
	require.Failf(t, "not registered", "%s %s", token, name)
	return nil
}

func groupARN(t *testing.T, rec *recorder.Recording) string {
	t.Helper()
	for _, r := range rec.Resources {
		if r.Type == "aws:scheduler/scheduleGroup:ScheduleGroup" {
			return r.Outputs["arn"].StringValue()
		}
	}
	require.Fail(t, "no group")
	return ""
}

func TestSchedulesCallEMR(t *testing.T) {
	rec, err := run(t, validArgs(map[string]schema.Schedule{"nightly": nightly(), "weekly": nightly(func(s *schema.Schedule) {
		s.Expression, s.Timezone, s.Retries, s.MaxAgeMinutes = "cron(0 6 ? * MON *)", "Europe/Berlin", 3, 5
	})}))
	require.NoError(t, err)
	of := one(t, rec, scheduleType, "schedules-nightly")
	require.Equal(t, "cron(0 2 * * ? *)", of["scheduleExpression"])
	require.Equal(t, "UTC", of["scheduleExpressionTimezone"])
	require.Equal(t, "ENABLED", of["state"])
	require.Equal(t, map[string]any{"mode": "OFF"}, of["flexibleTimeWindow"])
	require.NotContains(t, of, "startDate")
	target, _ := of["target"].(map[string]any)
	require.Equal(t, "arn:aws:scheduler:::aws-sdk:emr:addJobFlowSteps", target["arn"])
	input, _ := target["input"].(string)
	require.JSONEq(t, `{"JobFlowId":"j-1","Steps":[{"ActionOnFailure":"CONTINUE","Name":"load (nightly <aws.scheduler.scheduled-time>)",`+
		`"HadoopJarStep":{"Args":["spark-submit","s3://bucket/<load>.py"],"Jar":"command-runner.jar"}}]}`, input)
	require.Contains(t, input, "<aws.scheduler.scheduled-time>", "as it is: EventBridge looks for it")
	require.Equal(t, map[string]any{"maximumRetryAttempts": 10.0, "maximumEventAgeInSeconds": 3600.0}, target["retryPolicy"])
	weekly := one(t, rec, scheduleType, "schedules-weekly")
	require.Equal(t, "Europe/Berlin", weekly["scheduleExpressionTimezone"])
	target, _ = weekly["target"].(map[string]any)
	require.Equal(t, map[string]any{"maximumRetryAttempts": 3.0, "maximumEventAgeInSeconds": 300.0}, target["retryPolicy"])
	queue := one(t, rec, "aws:sqs/queue:Queue", "schedules-lost")
	require.Equal(t, true, queue["sqsManagedSseEnabled"])
	require.InDelta(t, 14*24*3600, queue["messageRetentionSeconds"], 0)
}

// The role adds steps to the clusters of the schedules, and to no other.
func TestTheRoleDoesNothingElse(t *testing.T) {
	rec, err := run(t, validArgs(map[string]schema.Schedule{"nightly": nightly()}))
	require.NoError(t, err)
	var policy, trust struct {
		Statement []struct {
			Action, Resource []string
			Principal        struct{ Service []string }
			Condition        map[string]map[string][]string
		}
	}
	text, _ := one(t, rec, "aws:iam/rolePolicy:RolePolicy", "schedules-start")["policy"].(string)
	require.NoError(t, json.Unmarshal([]byte(text), &policy))
	require.Len(t, policy.Statement, 2)
	require.Equal(t, []string{"elasticmapreduce:AddJobFlowSteps"}, policy.Statement[0].Action)
	require.Equal(t, []string{"arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-1"}, policy.Statement[0].Resource)
	require.Equal(t, []string{"sqs:SendMessage"}, policy.Statement[1].Action)
	sends := policy.Statement[1].Resource
	require.Len(t, sends, 1)
	text, _ = one(t, rec, "aws:iam/role:Role", "schedules-start")["assumeRolePolicy"].(string)
	require.NoError(t, json.Unmarshal([]byte(text), &trust))
	require.Len(t, trust.Statement, 1)
	require.Equal(t, []string{"scheduler.amazonaws.com"}, trust.Statement[0].Principal.Service)
	require.Equal(t, []string{"123456789012"}, trust.Statement[0].Condition["StringEquals"]["aws:SourceAccount"])
	require.Equal(t, []string{groupARN(t, rec)}, trust.Statement[0].Condition["StringEquals"]["aws:SourceArn"])
	// The control node reads the queue, and does nothing else with it.
	text, _ = one(t, rec, "aws:iam/rolePolicy:RolePolicy", "schedules-lost")["policy"].(string)
	require.NoError(t, json.Unmarshal([]byte(text), &policy))
	require.Equal(t, []string{"sqs:ReceiveMessage", "sqs:DeleteMessage"}, policy.Statement[0].Action)
	require.Equal(t, sends, policy.Statement[0].Resource, "the queue to which the role sends")
}

// A cluster that each run starts: the call has the input as the cluster's component renders it, and the role passes no
// other roles, to no other services.
func TestRunsStartClusters(t *testing.T) {
	args := validArgs(map[string]schema.Schedule{"nightly": nightly(), "weekly": nightly(func(s *schema.Schedule) { s.Cluster = "own" })})
	args.Clusters["own"] = schedules.Cluster{Launch: &schedules.Launch{
		Input: func(schedule string, steps []schema.Step) pulumi.StringOutput {
			return pulumi.String(schedule + " " + steps[0].Name).ToStringOutput()
		},
		ServiceRoleARN: pulumi.String("service"), NodeRoleARN: pulumi.String("nodes"),
	}}
	rec, err := run(t, args)
	require.NoError(t, err)
	target, _ := one(t, rec, scheduleType, "schedules-weekly")["target"].(map[string]any)
	require.Equal(t, "arn:aws:scheduler:::aws-sdk:emr:runJobFlow", target["arn"])
	require.Equal(t, "weekly load", target["input"])
	var policy struct {
		Statement []struct {
			Sid              string
			Action, Resource []string
			Condition        map[string]map[string][]string
		}
	}
	text, _ := one(t, rec, "aws:iam/rolePolicy:RolePolicy", "schedules-start")["policy"].(string)
	require.NoError(t, json.Unmarshal([]byte(text), &policy))
	granted := map[string]any{}
	for _, s := range policy.Statement {
		granted[s.Sid] = []any{s.Action[0], s.Resource, s.Condition}
	}
	none := map[string]map[string][]string(nil)
	delete(granted, "KeepLostRuns")
	require.Equal(t, map[string]any{
		"AddSteps": []any{"elasticmapreduce:AddJobFlowSteps", []string{"arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-1"}, none},
		"StartClusters": []any{"elasticmapreduce:RunJobFlow", []string{"*"},
			map[string]map[string][]string{"StringEquals": {
				"elasticmapreduce:RequestTag/" + platform.TagCluster: {"own"}, "aws:RequestedRegion": {"us-east-1"},
			}}},
		"TagClusters": []any{"elasticmapreduce:AddTags", []string{"arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/*"},
			map[string]map[string][]string{"StringEquals": {"elasticmapreduce:RequestTag/" + platform.TagCluster: {"own"}}}},
		"CreateCleanupRole": []any{"iam:CreateServiceLinkedRole",
			[]string{"arn:aws:iam::123456789012:role/aws-service-role/elasticmapreduce.amazonaws.com/AWSServiceRoleForEMRCleanup"},
			map[string]map[string][]string{"StringEquals": {"iam:AWSServiceName": {"elasticmapreduce.amazonaws.com"}}}},
		"PassRole0": []any{"iam:PassRole", []string{"service"},
			map[string]map[string][]string{"StringEquals": {"iam:PassedToService": {"elasticmapreduce.amazonaws.com"}}}},
		"PassRole1": []any{"iam:PassRole", []string{"nodes"},
			map[string]map[string][]string{"StringEquals": {"iam:PassedToService": {"ec2.amazonaws.com"}}}},
	}, granted)
}

// IAM takes 10,240 characters, which the roles of many clusters exceed.
func TestTooManyClusters(t *testing.T) {
	args := validArgs(map[string]schema.Schedule{})
	for i := range 20 {
		key := fmt.Sprintf("cluster-%d", i)
		args.Schedules[key] = nightly(func(s *schema.Schedule) { s.Cluster = key })
		args.Clusters[key] = schedules.Cluster{Launch: &schedules.Launch{
			ServiceRoleARN: pulumi.String(""), NodeRoleARN: pulumi.String(""), ScalingRoleARN: pulumi.String(""),
		}}
	}
	require.ErrorContains(t, args.Validate(), "schedules: 20 must name so few clusters that IAM takes the policy")
	for i := 8; i < 20; i++ {
		delete(args.Schedules, fmt.Sprintf("cluster-%d", i))
	}
	require.NoError(t, args.Validate())
}

// EventBridge refuses a start that has passed, in an update as well.
func TestDatesThatHavePassed(t *testing.T) {
	for name, c := range map[string]struct {
		start, end         string
		enabled            bool
		wantStart, wantEnd any
		state              string
	}{
		"to come": {"2027-02-01T01:00:00+01:00", "2027-03-01T00:00:00Z", true, "2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z", "ENABLED"},
		"begun":   {"2026-12-01T00:00:00Z", "2027-03-01T00:00:00Z", true, nil, "2027-03-01T00:00:00Z", "ENABLED"},
		"ended":   {"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", true, nil, nil, "DISABLED"},
		"off":     {"", "", false, nil, nil, "DISABLED"},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := run(t, validArgs(map[string]schema.Schedule{"nightly": nightly(func(s *schema.Schedule) {
				s.Start, s.End, s.Enabled = c.start, c.end, c.enabled
			})}))
			require.NoError(t, err)
			of := one(t, rec, scheduleType, "schedules-nightly")
			require.Equal(t, c.wantStart, of["startDate"])
			require.Equal(t, c.wantEnd, of["endDate"])
			require.Equal(t, c.state, of["state"])
		})
	}
}

func TestInvalidArgumentsRegisterNothing(t *testing.T) {
	var none *schedules.Args
	require.ErrorContains(t, none.Validate(), "arguments are nil")
	rec, err := run(t, &schedules.Args{Schedules: map[string]schema.Schedule{"nightly": nightly()}})
	for _, want := range []string{"schedules.region", "schedules.now", "schedules.clusters.lake", "schedules.controlRoleName"} {
		require.ErrorContains(t, err, want)
	}
	require.NotNil(t, rec)
	require.ErrorContains(t, (&schedules.Args{}).Validate(), "schedules.schedules: 0 must not be empty")
}

// EventBridge does not check an input when the schedule is created.
func TestBotocoreAcceptsTheInput(t *testing.T) {
	whole := nightly(func(s *schema.Schedule) {
		s.Steps = append(s.Steps, schema.Step{
			Name: "own", ActionOnFailure: "CANCEL_AND_WAIT", Jar: "s3://bucket/own.jar", Args: []string{"a b", ""}, MainClass: "com.example.Main",
			Properties: map[string]string{"a": "b", "empty": ""},
		})
	})
	rec, err := run(t, validArgs(map[string]schema.Schedule{"nightly": whole}))
	require.NoError(t, err)
	target, _ := one(t, rec, scheduleType, "schedules-nightly")["target"].(map[string]any)
	input, _ := target["input"].(string)
	require.Contains(t, input, `"com.example.Main"`)
	testenv.RequireInputs(t, "emr", "AddJobFlowSteps", input)
}
