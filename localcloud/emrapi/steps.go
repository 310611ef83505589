package emrapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Limits of steps: AddJobFlowSteps, HadoopJarStepConfig, ListSteps and
// CancelSteps in the API reference; "active or pending" from the Management
// Guide, "Submit work to a cluster".
const (
	maxSteps          = 256   // active or pending, and in one request
	maxStepCharacters = 10240 // of all strings of one HadoopJarStep
	maxStepName       = 256
	maxStepIDs        = 10 // in one ListSteps
)

// AddSteps queues steps on a cluster and returns their ids. It adds all steps or
// none. A step without ActionOnFailure gets TERMINATE_CLUSTER, EMR's default.
func (s *Store) AddSteps(clusterID string, configs ...types.StepConfig) ([]string, error) {
	var ids []string
	err := s.change(clusterID, func(r *record) error {
		ids = nil
		if err := checkSteps(r, configs); err != nil {
			return err
		}
		for _, config := range configs {
			step := newStep(config)
			ids = append(ids, *step.Id)
			r.Steps = append(r.Steps, step)
		}
		return nil
	})
	return ids, err
}

// checkSteps reports every violation of steps that are to be added.
func checkSteps(r *record, configs []types.StepConfig) error {
	if !clusterTakesSteps(r.state()) {
		return validationError("A job flow that is shutting down, terminated, or finished may not be modified.")
	}
	active := r.stepsIn(types.StepStatePending, types.StepStateRunning, types.StepStateCancelPending)
	var v violations
	v.require(len(configs) > 0, "Steps: must hold at least one step")
	v.require(active+len(configs) <= maxSteps,
		"Steps: maximum number of steps for job flow exceeded: %d active or pending and %d more, at most %d", active, len(configs), maxSteps)
	for i, config := range configs {
		v.checkStep(fmt.Sprintf("Steps[%d]", i), config, aws.ToInt32(r.Cluster.StepConcurrencyLevel))
	}
	return v.refuse()
}

// checkStep reports every violation of a step. concurrency is the cluster's level.
func (v *violations) checkStep(at string, config types.StepConfig, concurrency int32) {
	name, action, jar := aws.ToString(config.Name), config.ActionOnFailure, config.HadoopJarStep
	v.require(name != "" && len(name) <= maxStepName, "%s.Name: %q: must have 1 to %d characters", at, name, maxStepName)
	requireOneOf(v, at+".ActionOnFailure", action, action.Values())
	v.require(concurrency <= 1 || action == types.ActionOnFailureContinue,
		"%s.ActionOnFailure: %q: is not valid: only CONTINUE is on a cluster with a step concurrency level of %d", at, action, concurrency)
	if jar == nil || aws.ToString(jar.Jar) == "" {
		v.require(false, `%s.HadoopJarStep.Jar: "": must name a JAR, such as command-runner.jar`, at)
		return
	}
	size := stepCharacters(jar)
	v.require(size <= maxStepCharacters, "%s.HadoopJarStep: %d characters in all: at most %d", at, size, maxStepCharacters)
}

// stepCharacters counts the characters that EMR limits.
func stepCharacters(jar *types.HadoopJarStepConfig) int {
	size := len(aws.ToString(jar.Jar)) + len(aws.ToString(jar.MainClass))
	for _, arg := range jar.Args {
		size += len(arg)
	}
	for _, property := range jar.Properties {
		size += len(aws.ToString(property.Key)) + len(aws.ToString(property.Value))
	}
	return size
}

// newStep returns a pending step.
func newStep(config types.StepConfig) types.Step {
	properties := map[string]string{}
	for _, property := range config.HadoopJarStep.Properties {
		properties[aws.ToString(property.Key)] = aws.ToString(property.Value)
	}
	return types.Step{
		Id:              aws.String(NewID("s")),
		Name:            config.Name,
		ActionOnFailure: cmp.Or(config.ActionOnFailure, types.ActionOnFailureTerminateCluster),
		Config: &types.HadoopStepConfig{
			Jar: config.HadoopJarStep.Jar, MainClass: config.HadoopJarStep.MainClass,
			Args: append([]string{}, config.HadoopJarStep.Args...), Properties: properties,
		},
		Status: &types.StepStatus{
			State:             types.StepStatePending,
			StateChangeReason: &types.StepStateChangeReason{},
			Timeline:          &types.StepTimeline{CreationDateTime: now()},
		},
	}
}

func (s *Server) addJobFlowSteps(input *emr.AddJobFlowStepsInput) (*emr.AddJobFlowStepsOutput, error) {
	ids, err := s.store.AddSteps(aws.ToString(input.JobFlowId), input.Steps...)
	if errors.Is(err, ErrNotFound) {
		return nil, validationError("Specified job flow ID does not exist.")
	}
	return &emr.AddJobFlowStepsOutput{StepIds: ids}, err
}

func (r *record) listSteps(input *emr.ListStepsInput) (*emr.ListStepsOutput, error) {
	if len(input.StepIds) > maxStepIDs {
		return nil, invalidRequestError("StepIds: %d ids: at most %d in one request", len(input.StepIds), maxStepIDs)
	}
	for _, id := range input.StepIds {
		if _, err := r.step(id); err != nil {
			return nil, invalidRequestError("Step id '%s' is not valid.", id)
		}
	}
	newestFirst := slices.Clone(r.Steps)
	slices.Reverse(newestFirst)
	steps, marker, err := page(newestFirst, input.Marker,
		func(step types.Step) *string { return step.Id },
		func(step types.Step) bool {
			return matches(input.StepStates, step.Status.State) && matches(input.StepIds, aws.ToString(step.Id))
		})
	summaries := make([]types.StepSummary, 0, len(steps))
	for _, step := range steps {
		summaries = append(summaries, types.StepSummary{
			Id: step.Id, Name: step.Name, ActionOnFailure: step.ActionOnFailure, Config: step.Config, Status: step.Status,
			LogUri: step.LogUri, EncryptionKeyArn: step.EncryptionKeyArn, AdditionalInfo: step.AdditionalInfo,
		})
	}
	return &emr.ListStepsOutput{Steps: summaries, Marker: marker}, err
}

func (r *record) describeStep(input *emr.DescribeStepInput) (*emr.DescribeStepOutput, error) {
	step, err := r.step(aws.ToString(input.StepId))
	if err != nil {
		return nil, invalidRequestError("Step id '%s' is not valid.", aws.ToString(input.StepId))
	}
	return &emr.DescribeStepOutput{Step: step}, nil
}
