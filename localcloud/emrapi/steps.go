package emrapi

import (
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

// AddSteps queues steps on a cluster and gives their ids. All steps are added
// or none. A step without ActionOnFailure gets TERMINATE_CLUSTER, EMR's own
// default.
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

func checkSteps(r *record, configs []types.StepConfig) error {
	if !clusterTakesSteps(r.state()) {
		return validation("A job flow that is shutting down, terminated, or finished may not be modified.")
	}
	active := r.stepsIn(types.StepStatePending, types.StepStateRunning, types.StepStateCancelPending)
	var faults []error
	switch {
	case len(configs) == 0:
		faults = append(faults, errors.New("Steps: must hold at least one step"))
	case active+len(configs) > maxSteps:
		faults = append(faults, fmt.Errorf(
			"Steps: maximum number of steps for job flow exceeded: %d active or pending and %d more, at most %d",
			active, len(configs), maxSteps))
	}
	for i, config := range configs {
		for _, problem := range checkStep(config, aws.ToInt32(r.Cluster.StepConcurrencyLevel)) {
			faults = append(faults, fmt.Errorf("Steps[%d].%w", i, problem))
		}
	}
	if len(faults) > 0 {
		return validation("%s", errors.Join(faults...))
	}
	return nil
}

func checkStep(config types.StepConfig, concurrency int32) []error {
	var faults []error
	if name := aws.ToString(config.Name); name == "" || len(name) > maxStepName {
		faults = append(faults, fmt.Errorf("Name: %q: must have 1 to %d characters", name, maxStepName))
	}
	action := config.ActionOnFailure
	if action != "" && !slices.Contains(action.Values(), action) {
		faults = append(faults, fmt.Errorf("ActionOnFailure: %q: must be one of %q", action, action.Values()))
	}
	if concurrency > 1 && action != types.ActionOnFailureContinue {
		faults = append(faults, fmt.Errorf(
			"ActionOnFailure: %q: is not valid: only CONTINUE is on a cluster with a step concurrency level of %d",
			action, concurrency))
	}
	jar := config.HadoopJarStep
	if jar == nil || aws.ToString(jar.Jar) == "" {
		return append(faults, errors.New(`HadoopJarStep.Jar: "": must name a JAR, such as command-runner.jar`))
	}
	if size := stepCharacters(jar); size > maxStepCharacters {
		faults = append(faults, fmt.Errorf("HadoopJarStep: %d characters in all: at most %d", size, maxStepCharacters))
	}
	return faults
}

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

func newStep(config types.StepConfig) types.Step {
	properties := map[string]string{}
	for _, property := range config.HadoopJarStep.Properties {
		properties[aws.ToString(property.Key)] = aws.ToString(property.Value)
	}
	action := config.ActionOnFailure
	if action == "" {
		action = types.ActionOnFailureTerminateCluster
	}
	return types.Step{
		Id:              aws.String(NewID("s")),
		Name:            config.Name,
		ActionOnFailure: action,
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
		return nil, validation("Specified job flow ID does not exist.")
	}
	return &emr.AddJobFlowStepsOutput{StepIds: ids}, err
}

func (s *Server) listSteps(input *emr.ListStepsInput) (*emr.ListStepsOutput, error) {
	found, err := s.cluster(input.ClusterId)
	if err != nil {
		return nil, err
	}
	if len(input.StepIds) > maxStepIDs {
		return nil, invalidRequest("StepIds: %d ids: at most %d in one request", len(input.StepIds), maxStepIDs)
	}
	for _, id := range input.StepIds {
		if _, err := found.step(id); err != nil {
			return nil, invalidRequest("Step id '%s' is not valid.", id)
		}
	}
	newestFirst := slices.Clone(found.Steps)
	slices.Reverse(newestFirst)
	steps, marker, err := page(newestFirst, input.Marker,
		func(step types.Step) *string { return step.Id },
		func(step types.Step) bool {
			return in(input.StepStates, step.Status.State) && in(input.StepIds, aws.ToString(step.Id))
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

func (s *Server) describeStep(input *emr.DescribeStepInput) (*emr.DescribeStepOutput, error) {
	found, err := s.cluster(input.ClusterId)
	if err != nil {
		return nil, err
	}
	step, err := found.step(aws.ToString(input.StepId))
	if err != nil {
		return nil, invalidRequest("Step id '%s' is not valid.", aws.ToString(input.StepId))
	}
	return &emr.DescribeStepOutput{Step: step}, nil
}
