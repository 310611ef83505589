package emrapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// stepKey names a step of a cluster.
type stepKey struct{ cluster, step string }

var (
	errClosing     = errors.New("the local cloud stops")
	errTerminating = errors.New("the cluster terminates")
)

// StepFailure is a error of Nodes.RunStep with what EMR reports about a failed step:
// Reason such as "Application exception", Message, and LogFile in S3.
type StepFailure struct{ Details types.FailureDetails }

// Error returns the reason and the message.
func (f *StepFailure) Error() string {
	return aws.ToString(f.Details.Reason) + ": " + aws.ToString(f.Details.Message)
}

// watch calls advance for every cluster after every change of the store.
func (s *Server) watch(ctx context.Context) {
	for {
		changed := s.store.Changed()
		for _, id := range s.store.ClusterIDs() {
			if err := s.advance(ctx, id); err != nil {
				s.log.Error("EMR steps", "cluster", id, "error", err)
			}
		}
		s.attachDue(ctx)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// advance takes the next action that is due on a cluster: launch or resize it, start a
// step, wait for more steps, or terminate. Each changes the store, which triggers the next call.
func (s *Server) advance(ctx context.Context, id string) error {
	found, err := s.store.snapshot(id)
	if err != nil {
		return err
	}
	pending := found.stepsIn(types.StepStatePending)
	active := found.stepsIn(types.StepStateRunning, types.StepStateCancelPending)
	switch {
	case found.state() == types.ClusterStateTerminating:
		s.terminate(ctx, found)
		return nil
	case found.state() == types.ClusterStateStarting && found.Request != nil:
		s.launch(ctx, id)
		return nil
	case !clusterReady(found.state()):
		return nil
	}
	s.resizeDue(ctx, found)
	autoTerminates := found.state() == types.ClusterStateWaiting && aws.ToBool(found.Cluster.AutoTerminate)
	switch {
	case pending > 0 && active < max(1, int(aws.ToInt32(found.Cluster.StepConcurrencyLevel))):
		return s.startNextStep(ctx, id)
	case pending == 0 && active == 0 && (found.state() == types.ClusterStateRunning || autoTerminates):
		return s.finishWork(id)
	}
	return nil
}

// startNextStep starts the oldest pending step.
func (s *Server) startNextStep(ctx context.Context, id string) error {
	// The lock is held until the step can be cancelled: a cancellation that
	// sees it running must find its context.
	s.mu.Lock()
	defer s.mu.Unlock()
	var step types.Step
	err := s.store.change(id, func(r *record) error {
		for i := range r.Steps {
			if r.Steps[i].Status.State != types.StepStatePending {
				continue
			}
			step = r.Steps[i]
			return errors.Join(
				r.setState(types.ClusterStateRunning, types.ClusterStateChangeReason{Message: aws.String("Running step")}, nil),
				setStepState(&r.Steps[i], types.StepStateRunning, nil))
		}
		return nil // cancelled in the meantime
	})
	if err != nil || step.Id == nil {
		return err
	}
	if step, err = clone(step); err != nil {
		return err
	}
	key := stepKey{id, *step.Id}
	ctx, cancel := context.WithCancelCause(ctx)
	s.running[key] = cancel
	s.working.Go(func() { s.runStep(ctx, key, step) })
	return nil
}

// runStep runs a step to its end. A step that Close interrupted keeps its state; the
// next New sets it to failed.
func (s *Server) runStep(ctx context.Context, key stepKey, step types.Step) {
	failure := s.nodes.RunStep(ctx, key.cluster, step)
	cause := context.Cause(ctx)
	s.mu.Lock()
	s.running[key](nil)
	delete(s.running, key)
	s.mu.Unlock()
	if errors.Is(cause, errClosing) {
		return
	}
	if err := s.recordOutcome(key, failure, cause); err != nil {
		s.log.Error("end EMR step", "cluster", key.cluster, "step", key.step, "error", err)
	}
}

// recordOutcome sets the final state of a step and, if it failed, applies its
// ActionOnFailure. failure is the runner's error, cause that of its context.
func (s *Server) recordOutcome(key stepKey, failure, cause error) error {
	return s.store.change(key.cluster, func(r *record) error {
		step, err := r.step(key.step)
		if err != nil {
			return err
		}
		switch {
		case StepEnded(step.Status.State):
			return nil
		case failure == nil:
			return setStepState(step, types.StepStateCompleted, nil)
		case step.Status.State == types.StepStateCancelPending:
			return setStepState(step, types.StepStateCancelled, nil)
		case errors.Is(cause, errTerminating):
			return setStepState(step, types.StepStateInterrupted, nil)
		}
		return r.failStep(step, failureDetails(failure))
	})
}

// failureDetails returns the details of a StepFailure, or else the error as message.
func failureDetails(failure error) types.FailureDetails {
	var reported *StepFailure
	if errors.As(failure, &reported) {
		return reported.Details
	}
	return types.FailureDetails{Reason: aws.String("Unknown Error"), Message: aws.String(failure.Error())}
}

// failStep sets a step to FAILED and applies its ActionOnFailure, which concurrent
// steps ignore (API reference, StepConfig). A protected cluster that is kept alive
// is not terminated: its pending steps are cancelled (Management Guide,
// "Termination protection").
func (r *record) failStep(step *types.Step, details types.FailureDetails) error {
	if err := setStepState(step, types.StepStateFailed, &details); err != nil {
		return err
	}
	action := step.ActionOnFailure
	if action == types.ActionOnFailureContinue || aws.ToInt32(r.Cluster.StepConcurrencyLevel) > 1 {
		return nil
	}
	protected := aws.ToBool(r.Cluster.TerminationProtected) && !aws.ToBool(r.Cluster.AutoTerminate)
	if action == types.ActionOnFailureCancelAndWait || protected || !clusterTakesSteps(r.state()) {
		return r.moveSteps(types.StepStatePending, types.StepStateCancelled)
	}
	return r.setState(types.ClusterStateTerminating, types.ClusterStateChangeReason{
		Code: types.ClusterStateChangeReasonCodeStepFailure, Message: aws.String("Shut down as step failed"),
	}, nil)
}

// failLostSteps sets the steps that an earlier process was running to FAILED.
func (s *Server) failLostSteps() error {
	for _, id := range s.store.ClusterIDs() {
		err := s.store.change(id, func(r *record) error {
			for i := range r.Steps {
				state := r.Steps[i].Status.State
				if state != types.StepStateRunning && state != types.StepStateCancelPending {
					continue
				}
				if err := r.failStep(&r.Steps[i], types.FailureDetails{
					Reason:  aws.String("Unknown Error"),
					Message: aws.String("The local cloud stopped while the step ran."),
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("fail lost steps: %w", err)
		}
	}
	return nil
}

// finishWork moves a cluster without steps to WAITING, or terminates it if it is not
// kept alive.
func (s *Server) finishWork(id string) error {
	return s.store.change(id, func(r *record) error {
		idle := r.stepsIn(types.StepStatePending, types.StepStateRunning, types.StepStateCancelPending) == 0
		if !idle || !clusterReady(r.state()) {
			return nil
		}
		if aws.ToBool(r.Cluster.AutoTerminate) {
			return r.setState(types.ClusterStateTerminating, types.ClusterStateChangeReason{
				Code: types.ClusterStateChangeReasonCodeAllStepsCompleted, Message: aws.String("Steps completed"),
			}, nil)
		}
		message := "Cluster ready to run steps."
		if len(r.Steps) > 0 {
			message = "Cluster ready after last step completed."
		}
		return r.setState(types.ClusterStateWaiting, types.ClusterStateChangeReason{Message: aws.String(message)}, nil)
	})
}
