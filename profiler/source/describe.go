package source

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/internal/steplog"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Endpoints of outcomes that are not operations of EMR's API.
const (
	EndpointStepLogs     = "step_logs"
	EndpointEventLogs    = "event_logs"
	EndpointApplications = "applications"
)

// Open describes a cluster, links its steps, and finds its applications.
func (e *EMR) Open(ctx context.Context, listed Listed) (*Cluster, error) {
	out, err := e.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &listed.ID.ClusterID})
	if err != nil {
		return nil, fmt.Errorf("describe the EMR cluster %s: %w", listed.ID.ClusterID, err)
	}
	described := *out.Cluster
	cluster := &Cluster{Summary: summary(listed, described), ofSpark: map[string]bool{}, roles: map[string]string{}}
	cluster.report(OpDescribeCluster, nil)
	e.steps(ctx, described, listed, cluster)
	primaries := e.groups(ctx, described, cluster)
	e.instances(ctx, described, listed, cluster)
	e.usage(ctx, described, listed, cluster)
	e.applications(ctx, listed, described, primaries, cluster)
	return cluster, ctx.Err()
}

func summary(listed Listed, c types.Cluster) tables.ClusterSummary {
	row := tables.ClusterSummary{
		Cluster: listed.ID, ReleaseLabel: c.ReleaseLabel, CreatedTime: millis(&listed.Created), EndTime: millis(&listed.Ended),
	}
	if c.NormalizedInstanceHours != nil {
		row.NormalizedInstanceHours = aws.Int64(int64(*c.NormalizedInstanceHours))
	}
	if status := c.Status; status != nil {
		row.Status = string(status.State)
		if status.Timeline != nil {
			row.ReadyTime, row.EndTime = millis(status.Timeline.ReadyDateTime), millis(status.Timeline.EndDateTime)
		}
		if reason := status.StateChangeReason; reason != nil && aws.ToString(reason.Message) != "" {
			row.StateChangeReason = aws.String(shown(aws.ToString(reason.Message)))
		}
	}
	return row
}

// millis returns a time in milliseconds since 1970, 0 if there is none.
func millis(at *time.Time) tables.Millis {
	if at == nil || at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// steps lists a cluster's steps and links them to their applications.
func (e *EMR) steps(ctx context.Context, described types.Cluster, listed Listed, cluster *Cluster) {
	earlier := map[string]tables.Step{}
	for _, step := range listed.Earlier {
		earlier[step.StepID] = step
	}
	pages := emr.NewListStepsPaginator(e.emr, &emr.ListStepsInput{ClusterId: described.Id})
	var logs []error
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			cluster.report(OpListSteps, fmt.Errorf("list the steps: %w", err))
			return
		}
		for _, s := range page.Steps {
			row := stepRow(cluster.Summary.Cluster, s)
			if err := e.readLogs(ctx, described, listed, earlier[row.StepID], &row); err != nil {
				logs = append(logs, err)
			}
			cluster.Steps = append(cluster.Steps, row)
			cluster.ofSpark[row.StepID] = submitsToSpark(s)
		}
	}
	cluster.report(OpListSteps, nil)
	if len(logs) > 0 {
		cluster.report(EndpointStepLogs, unreadStepLogs(logs, cluster))
	}
}

// readLogs links an ended step to the applications that its logs name, unless EMR names them, and
// finds why it failed. It takes what an earlier run found, unless EMR may have uploaded more. It is
// no error if EMR has no log of the step.
func (e *EMR) readLogs(ctx context.Context, described types.Cluster, listed Listed, earlier tables.Step, row *tables.Step) (err error) {
	if row.EndTime == 0 {
		return nil
	}
	uploading := !listed.Settled && e.now().Sub(time.UnixMilli(row.EndTime)) < settleTime
	if row.LinkedBy == "" && earlier.LinkedBy == linkedByLog {
		row.ApplicationIDs, row.LinkedBy = earlier.ApplicationIDs, earlier.LinkedBy
	}
	var ids []string
	switch {
	case e.wantsCause(row, earlier):
		var logs steplog.Logs
		logs, err = steplog.Place{
			Client: e.s3, LogURI: aws.ToString(described.LogUri), Cluster: row.ClusterID, Step: row.StepID,
		}.Read(ctx)
		ids = logs.ApplicationIDs
		if cause := logs.Search.Cause(); cause != nil {
			row.Cause = aws.String(shown(cause.String()))
		}
	case row.LinkedBy == "":
		ids, err = steplog.Applications(ctx, e.s3, aws.ToString(described.LogUri), row.ClusterID, row.StepID)
	}
	if row.Cause == nil {
		row.Cause = earlier.Cause
	}
	if ids = ownApplications(ids, millis(&listed.Created), row.EndTime); len(ids) > 0 && row.LinkedBy == "" {
		row.ApplicationIDs, row.LinkedBy = ids, linkedByLog
		if uploading {
			row.LinkedBy = linkedByEarlyLog
		}
	}
	if errors.Is(err, steplog.ErrNone) {
		return nil
	}
	return err
}

// How long after a step's end its logs are read again for why it failed: until nothing more is
// uploaded, whatever the interval of runs is below a day, and no longer if they name no cause.
const (
	causeTime   = 2*time.Hour + settleTime
	noCauseTime = 24 * time.Hour
)

// wantsCause reports whether the logs of a step are read for why it failed.
func (e *EMR) wantsCause(row *tables.Step, earlier tables.Step) bool {
	since := e.now().Sub(time.UnixMilli(row.EndTime))
	switch {
	case row.State != string(types.StepStateFailed):
		return false
	case earlier.EndTime == 0: // no earlier run has seen its end
		return true
	case earlier.Cause != nil:
		return since < causeTime
	}
	return since < noCauseTime
}

// unreadStepLogs returns the error for step logs that could not be read: an Obstacle, so that
// the cluster is not opened again and again, if S3 would refuse them next time, too.
func unreadStepLogs(logs []error, cluster *Cluster) error {
	err := fmt.Errorf("cannot read the logs of %d of %d steps, which may name their applications: %w", len(logs), len(cluster.Steps), logs[0])
	for _, failed := range logs {
		var answer smithy.APIError
		if !errors.As(failed, &answer) || answer.ErrorCode() != "AccessDenied" && answer.ErrorCode() != "NoSuchBucket" {
			return err
		}
	}
	return &Obstacle{
		Reason: err.Error(),
		Remedy: "grant the profiler's role s3:GetObject and s3:ListBucket on the cluster's log URI, and kms:Decrypt if it is encrypted",
	}
}

// submitsToSpark reports whether a step's own command is one of Spark's. A script may
// submit too; its applications are not counted on.
func submitsToSpark(s types.StepSummary) bool {
	if s.Config == nil || len(s.Config.Args) == 0 {
		return false
	}
	command := path.Base(s.Config.Args[0])
	return strings.HasPrefix(command, "spark-") || command == "pyspark"
}

// Values of tables.Step.LinkedBy.
const (
	linkedByEMR = "additional_info"
	linkedByLog = "step_log"
	// linkedByEarlyLog is of a log of which EMR may not have uploaded everything.
	linkedByEarlyLog = "step_log_early"
)

// clockSkew is how far clocks of a cluster may differ from EMR's.
const clockSkew = time.Minute

// ownApplications returns those YARN applications that a cluster may have run. The number in an
// id is when the resource manager started, in milliseconds since 1970. The output of a step may
// name applications of other clusters.
func ownApplications(ids []string, created, stepEnded tables.Millis) (own []string) {
	for _, id := range ids {
		_, number, _ := strings.Cut(id, "_")
		number, _, _ = strings.Cut(number, "_")
		started, err := strconv.ParseInt(number, 10, 64)
		if err == nil && started >= created-clockSkew.Milliseconds() && started <= stepEnded+clockSkew.Milliseconds() {
			own = append(own, id)
		}
	}
	return own
}

// maxText limits texts of EMR, in characters.
const maxText = 1000

// shown returns a text of EMR, or a name that somebody gave there, without secrets.
func shown(text string) string { return redaction.New(nil).Text(text, maxText) }

// stepRow returns the row of a step, with what EMR itself says of it.
func stepRow(cluster tables.Cluster, s types.StepSummary) tables.Step {
	row := tables.Step{
		Cluster: cluster, StepID: aws.ToString(s.Id), ActionOnFailure: string(s.ActionOnFailure),
		StepName: shown(aws.ToString(s.Name)),
	}
	if ids := steplog.Named(s.AdditionalInfo); len(ids) > 0 {
		row.ApplicationIDs, row.LinkedBy = ids, linkedByEMR
	}
	if s.Status == nil {
		return row
	}
	row.State = string(s.Status.State)
	if t := s.Status.Timeline; t != nil {
		row.CreatedTime, row.StartTime, row.EndTime = millis(t.CreationDateTime), millis(t.StartDateTime), millis(t.EndDateTime)
		if row.StartTime != 0 && row.EndTime != 0 {
			row.DurationMillis = aws.Int64(row.EndTime - row.StartTime)
		}
	}
	if f := s.Status.FailureDetails; f != nil {
		text := aws.ToString(f.Reason)
		if message := aws.ToString(f.Message); message != "" {
			text += ": " + message
		}
		row.FailureReason = aws.String(shown(text))
	}
	return row
}

// groups adds rows of costs for the instance groups or fleets, and returns how many primary
// nodes the cluster has.
func (e *EMR) groups(ctx context.Context, described types.Cluster, cluster *Cluster) (primaries int) {
	if described.InstanceCollectionType == types.InstanceCollectionTypeInstanceFleet {
		return e.fleets(ctx, described, cluster)
	}
	pages := emr.NewListInstanceGroupsPaginator(e.emr, &emr.ListInstanceGroupsInput{ClusterId: described.Id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			cluster.report(OpListInstanceGroups, fmt.Errorf("list the instance groups: %w", err))
			return 0
		}
		for _, g := range page.InstanceGroups {
			cluster.roles[aws.ToString(g.Id)] = roles[string(g.InstanceGroupType)]
			if g.InstanceGroupType == types.InstanceGroupTypeMaster {
				primaries += int(aws.ToInt32(g.RequestedInstanceCount))
			}
			cluster.Costs = append(cluster.Costs, tables.Cost{
				Cluster: cluster.Summary.Cluster, Group: aws.ToString(g.Id), Role: roles[string(g.InstanceGroupType)],
				InstanceType: aws.ToString(g.InstanceType), Market: string(g.Market),
			})
		}
	}
	cluster.report(OpListInstanceGroups, nil)
	return primaries
}

// roles maps EMR's instance roles to the values of tables.Cost.Role.
var roles = map[string]string{"MASTER": Primary, "CORE": "core", "TASK": "task"}

// fleets adds a row for each instance type and market that a fleet may use.
func (e *EMR) fleets(ctx context.Context, described types.Cluster, cluster *Cluster) (primaries int) {
	pages := emr.NewListInstanceFleetsPaginator(e.emr, &emr.ListInstanceFleetsInput{ClusterId: described.Id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			cluster.report(OpListInstanceFleets, fmt.Errorf("list the instance fleets: %w", err))
			return 0
		}
		for _, f := range page.InstanceFleets {
			cluster.roles[aws.ToString(f.Id)] = roles[string(f.InstanceFleetType)]
			target := map[types.MarketType]int32{
				types.MarketTypeOnDemand: aws.ToInt32(f.TargetOnDemandCapacity), types.MarketTypeSpot: aws.ToInt32(f.TargetSpotCapacity),
			}
			if f.InstanceFleetType == types.InstanceFleetTypeMaster {
				primaries += int(target[types.MarketTypeOnDemand] + target[types.MarketTypeSpot])
			}
			for _, market := range []types.MarketType{types.MarketTypeOnDemand, types.MarketTypeSpot} {
				for _, kind := range f.InstanceTypeSpecifications {
					if target[market] > 0 {
						cluster.Costs = append(cluster.Costs, tables.Cost{
							Cluster: cluster.Summary.Cluster, Group: aws.ToString(f.Id), Role: roles[string(f.InstanceFleetType)],
							InstanceType: aws.ToString(kind.InstanceType), Market: string(market),
						})
					}
				}
			}
		}
	}
	cluster.report(OpListInstanceFleets, nil)
	return primaries
}
