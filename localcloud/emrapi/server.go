package emrapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
)

const (
	targetPrefix = "ElasticMapReduce." // of X-Amz-Target: service name and operation
	contentType  = "application/x-amz-json-1.1"
	maxBody      = 1 << 20 // requests are far smaller: steps hold 10,240 characters at most
)

// StepRunner runs one step to its end.
type StepRunner interface {
	// RunStep blocks until the step has ended; nil means that it completed. An
	// error that is a *StepFailure says why as EMR would. When the step is
	// cancelled the context ends and context.Cause is a *Cancelled.
	RunStep(ctx context.Context, clusterID string, step types.Step) error
}

// Terminator ends the nodes of a cluster.
type Terminator interface {
	// Terminate blocks until the nodes are gone. The cluster is TERMINATING
	// meanwhile and ends when Terminate returns.
	Terminate(ctx context.Context, clusterID string) error
}

// Server answers EMR's API on a Store and runs its steps. It is an
// http.Handler; Close ends its work.
type Server struct {
	store      *Store
	runner     StepRunner
	terminator Terminator
	log        *slog.Logger
	operations map[string]operation

	stop    context.CancelCauseFunc
	working sync.WaitGroup

	mu      sync.Mutex
	running map[stepKey]context.CancelCauseFunc
	ending  map[string]bool
}

// New starts a server on a store. Steps that were running when the last server
// on this store ended have failed, and are marked so; terminations that had
// begun go on.
func New(store *Store, runner StepRunner, terminator Terminator, log *slog.Logger) (*Server, error) {
	ctx, stop := context.WithCancelCause(context.Background())
	server := &Server{
		store: store, runner: runner, terminator: terminator, log: log, stop: stop,
		running: map[stepKey]context.CancelCauseFunc{}, ending: map[string]bool{},
	}
	server.operations = server.table()
	if err := server.failLostSteps(); err != nil {
		stop(err)
		return nil, err
	}
	server.working.Go(func() { server.watch(ctx) })
	return server, nil
}

// Close cancels the running steps, waits for their runners and stops. The
// Store keeps them as running: the next New reports them as failed.
func (s *Server) Close() {
	s.stop(errClosing)
	s.working.Wait()
}

// operation answers one request body.
type operation func(body []byte) (smithy.Serializable, error)

// answer makes an operation from a function on an SDK input.
func answer[In any, Out smithy.Serializable](do func(*In) (Out, error)) operation {
	return func(body []byte) (smithy.Serializable, error) {
		input := new(In)
		if err := decode(body, input); err != nil {
			return nil, &fault{http.StatusBadRequest, "SerializationException", "", err.Error()}
		}
		return do(input)
	}
}

func (s *Server) table() map[string]operation {
	return map[string]operation{
		"AddJobFlowSteps":          answer(s.addJobFlowSteps),
		"CancelSteps":              answer(s.cancelSteps),
		"DescribeCluster":          answer(s.describeCluster),
		"DescribeStep":             answer(s.describeStep),
		"GetAutoTerminationPolicy": answer(s.getAutoTerminationPolicy),
		"GetManagedScalingPolicy":  answer(s.getManagedScalingPolicy),
		"ListBootstrapActions":     answer(s.listBootstrapActions),
		"ListClusters":             answer(s.listClusters),
		"ListInstanceFleets":       answer(s.listInstanceFleets),
		"ListInstanceGroups":       answer(s.listInstanceGroups),
		"ListInstances":            answer(s.listInstances),
		"ListSteps":                answer(s.listSteps),
		"SetTerminationProtection": answer(s.setTerminationProtection),
		"TerminateJobFlows":        answer(s.terminateJobFlows),
	}
}

// ServeHTTP answers one request of JSON 1.1.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := s.respond(r)
	if err != nil {
		s.log.Debug("EMR API", "target", r.Header.Get("X-Amz-Target"), "error", err)
		writeFault(w, err)
		return
	}
	write(w, http.StatusOK, body)
}

func (s *Server) respond(r *http.Request) ([]byte, error) {
	name, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	if r.Method != http.MethodPost || r.URL.Path != "/" || !ok {
		return nil, &fault{http.StatusBadRequest, "UnknownOperationException", "",
			fmt.Sprintf("%s %s with X-Amz-Target %q: must be POST / with X-Amz-Target %sOperation",
				r.Method, r.URL.Path, r.Header.Get("X-Amz-Target"), targetPrefix)}
	}
	if r.Header.Get("Authorization") == "" {
		return nil, &fault{http.StatusBadRequest, "MissingAuthenticationTokenException", "",
			"Missing Authentication Token: sign the request with any credentials"}
	}
	do, ok := s.operations[name]
	if !ok {
		return nil, &fault{http.StatusBadRequest, "UnknownOperationException", "",
			fmt.Sprintf("%s is not served by the local cloud, which has %s",
				name, strings.Join(slices.Sorted(maps.Keys(s.operations)), ", "))}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, &fault{http.StatusBadRequest, "SerializationException", "", err.Error()}
	}
	output, err := do(body)
	if err != nil {
		return nil, err
	}
	return encode(output)
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", NewID("request"))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone; nobody is left to tell
}

// cluster finds a cluster for the operations that call it ClusterId.
func (s *Server) cluster(id *string) (*record, error) {
	found, err := s.store.snapshot(aws.ToString(id))
	if errors.Is(err, ErrNotFound) {
		return nil, invalidRequest("Cluster id '%s' is not valid.", aws.ToString(id))
	}
	return found, err
}
