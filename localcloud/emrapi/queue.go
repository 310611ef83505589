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

// StepFailure is a StepRunner's error that carries what EMR tells of a failed
// step: Reason such as "Application exception", Message, and LogFile in S3.
type StepFailure struct{ Details types.FailureDetails }

// Error is the reason with the message.
func (f *StepFailure) Error() string {
	return aws.ToString(f.Details.Reason) + ": " + aws.ToString(f.Details.Message)
}

// watch advances every cluster after every change of the store.
func (s *Server) watch(ctx context.Context) {
	for {
		changed := s.store.Changed()
		for _, id := range s.store.ClusterIDs() {
			if err := s.advance(ctx, id); err != nil {
				s.log.Error("EMR steps", "cluster", id, "error", err)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// advance does the next thing that is due on a cluster: start a step, rest,
// end. Each of them changes the store and so brings the next call.
func (s *Server) advance(ctx context.Context, id string) error {
	found, err := s.store.snapshot(id)
	if err != nil {
		return err
	}
	pending := found.stepsIn(types.StepStatePending)
	active := found.stepsIn(types.StepStateRunning, types.StepStateCancelPending)
	switch {
	case found.state() == types.ClusterStateTerminating:
		s.end(ctx, found)
		return nil
	case !clusterReady(found.state()):
		return nil
	case pending > 0 && active < max(1, int(aws.ToInt32(found.Cluster.StepConcurrencyLevel))):
		return s.start(ctx, id)
	case pending == 0 && active == 0 && found.state() == types.ClusterStateRunning:
		return s.rest(id)
	}
	return nil
}

// start takes the oldest waiting step and runs it.
func (s *Server) start(ctx context.Context, id string) error {
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
	s.working.Go(func() { s.run(ctx, key, step) })
	return nil
}

// run runs a step to its end. A step that Close ended stays as it is, for the
// next New to report.
func (s *Server) run(ctx context.Context, key stepKey, step types.Step) {
	failure := s.runner.RunStep(ctx, key.cluster, step)
	cause := context.Cause(ctx)
	s.mu.Lock()
	s.running[key](nil)
	delete(s.running, key)
	s.mu.Unlock()
	if errors.Is(cause, errClosing) {
		return
	}
	if err := s.finish(key, failure, cause); err != nil {
		s.log.Error("end EMR step", "cluster", key.cluster, "step", key.step, "error", err)
	}
}

// finish records how a step ended and, if it failed, what follows from that.
func (s *Server) finish(key stepKey, failure, cause error) error {
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
		return r.fail(step, failureDetails(failure))
	})
}

func failureDetails(failure error) types.FailureDetails {
	var told *StepFailure
	if errors.As(failure, &told) {
		return told.Details
	}
	return types.FailureDetails{Reason: aws.String("Unknown Error"), Message: aws.String(failure.Error())}
}

// fail marks a step FAILED and follows its ActionOnFailure: on concurrent
// steps nothing follows (API reference, StepConfig), and a protected cluster
// that is kept alive is not terminated but cancels what waits (Management
// Guide, "Termination protection").
func (r *record) fail(step *types.Step, details types.FailureDetails) error {
	if err := setStepState(step, types.StepStateFailed, &details); err != nil {
		return err
	}
	action := step.ActionOnFailure
	if action == types.ActionOnFailureContinue || aws.ToInt32(r.Cluster.StepConcurrencyLevel) > 1 {
		return nil
	}
	protected := aws.ToBool(r.Cluster.TerminationProtected) && !aws.ToBool(r.Cluster.AutoTerminate)
	if action == types.ActionOnFailureCancelAndWait || protected || !clusterTakesSteps(r.state()) {
		return r.endSteps(types.StepStatePending, types.StepStateCancelled)
	}
	return r.setState(types.ClusterStateTerminating, types.ClusterStateChangeReason{
		Code: types.ClusterStateChangeReasonCodeStepFailure, Message: aws.String("Shut down as step failed"),
	}, nil)
}

// failLostSteps fails the steps whose runner died with the last process.
func (s *Server) failLostSteps() error {
	for _, id := range s.store.ClusterIDs() {
		err := s.store.change(id, func(r *record) error {
			for i := range r.Steps {
				state := r.Steps[i].Status.State
				if state != types.StepStateRunning && state != types.StepStateCancelPending {
					continue
				}
				if err := r.fail(&r.Steps[i], types.FailureDetails{
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

// rest moves a cluster without work to WAITING, or ends it if it is not kept
// alive.
func (s *Server) rest(id string) error {
	return s.store.change(id, func(r *record) error {
		idle := r.stepsIn(types.StepStatePending, types.StepStateRunning, types.StepStateCancelPending) == 0
		if !idle || r.state() != types.ClusterStateRunning {
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
