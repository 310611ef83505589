package emrapi

import (
	"context"
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

// Nodes are the machines of clusters.
type Nodes interface {
	// RunStep blocks until the step has ended; nil means that it completed. An
	// *StepFailure has the reason in EMR's form. When the step is cancelled the
	// context ends and context.Cause is a *Cancelled.
	RunStep(ctx context.Context, clusterID string, step types.Step) error
	// Launch brings a cluster from STARTING to RUNNING or WAITING, or else to
	// TERMINATED_WITH_ERRORS. The context ends if the cluster is terminated meanwhile.
	Launch(ctx context.Context, clusterID string) error
	// Resize makes the nodes of an instance group or fleet match what is requested of
	// it. It may be called at once for several of a cluster.
	Resize(ctx context.Context, clusterID, groupID string) error
	// Terminate blocks until the nodes are gone. The cluster is TERMINATING
	// meanwhile and ends when Terminate returns.
	Terminate(ctx context.Context, clusterID string) error
}

// Server serves EMR's API on a Store and runs its steps. It is an http.Handler;
// Close stops it.
type Server struct {
	store      *Store
	nodes      Nodes
	uis        AppUIs // nil: without
	sees       func(profile string) bool
	log        *slog.Logger
	operations map[string]operation

	stop    context.CancelCauseFunc
	working sync.WaitGroup

	mu          sync.Mutex
	running     map[stepKey]context.CancelCauseFunc
	launched    map[string]bool // by cluster id
	resizing    map[poolKey]bool
	background  map[string][]*task // of launching and resizing, by cluster id
	terminating map[string]bool    // by cluster id
	attaching   map[string]bool    // by id of a persistent UI
}

// New starts a server on a store. It sets the steps that the previous server was
// running to FAILED, and continues terminations that had begun.
func New(store *Store, nodes Nodes, log *slog.Logger, o Options) (*Server, error) {
	ctx, stop := context.WithCancelCause(context.Background())
	server := &Server{
		store: store, nodes: nodes, uis: o.UIs, sees: o.SeesProfile, log: log, stop: stop,
		running: map[stepKey]context.CancelCauseFunc{}, launched: map[string]bool{}, resizing: map[poolKey]bool{},
		background: map[string][]*task{}, terminating: map[string]bool{}, attaching: map[string]bool{},
	}
	if server.sees == nil {
		server.sees = func(string) bool { return true }
	}
	server.operations = server.operationTable()
	if o.UIs != nil {
		maps.Copy(server.operations, server.uiOperations())
	}
	if err := server.failLostSteps(); err != nil {
		stop(err)
		return nil, err
	}
	server.working.Go(func() { server.watch(ctx) })
	return server, nil
}

// Close cancels the running steps, waits for their runners and stops. The Store
// keeps them as running; the next New sets them to FAILED.
func (s *Server) Close() {
	s.stop(errClosing)
	s.working.Wait()
}

// operation handles one request body and returns the response.
type operation func(body []byte) (smithy.Serializable, error)

// newOperation makes an operation of a function of an SDK input.
func newOperation[In any, Out smithy.Serializable](do func(*In) (Out, error)) operation {
	return func(body []byte) (smithy.Serializable, error) {
		input := new(In)
		if err := decode(body, input); err != nil {
			return nil, &apiError{http.StatusBadRequest, "SerializationException", "", err.Error()}
		}
		return do(input)
	}
}

// clusterOperation makes an operation on the cluster that the input names in ClusterId.
func clusterOperation[In any, Out smithy.Serializable](s *Server, do func(*record, *In) (Out, error)) operation {
	return func(body []byte) (smithy.Serializable, error) {
		return newOperation(func(cluster *struct {
			ID *string `json:"ClusterId"`
		}) (smithy.Serializable, error) {
			found, err := s.store.snapshot(aws.ToString(cluster.ID))
			if err != nil {
				return nil, s.invalidCluster(err, cluster.ID)
			}
			return newOperation(func(input *In) (Out, error) { return do(found, input) })(body)
		})(body)
	}
}

// operationTable maps the names of the supported operations to them.
func (s *Server) operationTable() map[string]operation {
	return map[string]operation{
		"AddInstanceFleet":               newOperation(s.addInstanceFleet),
		"AddInstanceGroups":              newOperation(s.addInstanceGroups),
		"AddJobFlowSteps":                newOperation(s.addJobFlowSteps),
		"AddTags":                        newOperation(s.addTags),
		"CancelSteps":                    clusterOperation(s, s.cancelSteps),
		"DescribeCluster":                clusterOperation(s, (*record).describeCluster),
		"DescribeStep":                   clusterOperation(s, (*record).describeStep),
		"GetAutoTerminationPolicy":       clusterOperation(s, (*record).getAutoTerminationPolicy),
		"GetManagedScalingPolicy":        clusterOperation(s, (*record).getManagedScalingPolicy),
		"ListBootstrapActions":           clusterOperation(s, (*record).listBootstrapActions),
		"ListClusters":                   newOperation(s.listClusters),
		"ListInstanceFleets":             clusterOperation(s, (*record).listInstanceFleets),
		"ListInstanceGroups":             clusterOperation(s, (*record).listInstanceGroups),
		"ListInstances":                  clusterOperation(s, (*record).listInstances),
		"ListSteps":                      clusterOperation(s, (*record).listSteps),
		"ModifyCluster":                  newOperation(s.modifyCluster),
		"ModifyInstanceFleet":            newOperation(s.modifyInstanceFleet),
		"ModifyInstanceGroups":           newOperation(s.modifyInstanceGroups),
		"PutAutoScalingPolicy":           newOperation(s.putAutoScalingPolicy),
		"PutAutoTerminationPolicy":       newOperation(s.putAutoTerminationPolicy),
		"PutManagedScalingPolicy":        newOperation(s.putManagedScalingPolicy),
		"RemoveAutoScalingPolicy":        newOperation(s.removeAutoScalingPolicy),
		"RemoveAutoTerminationPolicy":    newOperation(s.removeAutoTerminationPolicy),
		"RemoveManagedScalingPolicy":     newOperation(s.removeManagedScalingPolicy),
		"RemoveTags":                     newOperation(s.removeTags),
		"RunJobFlow":                     newOperation(s.runJobFlow),
		"SetKeepJobFlowAliveWhenNoSteps": newOperation(s.setKeepJobFlowAliveWhenNoSteps),
		"SetTerminationProtection":       newOperation(s.setTerminationProtection),
		"SetUnhealthyNodeReplacement":    newOperation(s.setUnhealthyNodeReplacement),
		"SetVisibleToAllUsers":           newOperation(s.setVisibleToAllUsers),
		"TerminateJobFlows":              newOperation(s.terminateJobFlows),
	}
}

// ServeHTTP handles one request of JSON 1.1.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := s.respond(r)
	if err != nil {
		s.log.Debug("EMR API", "target", r.Header.Get("X-Amz-Target"), "error", err)
		writeError(w, err)
		return
	}
	writeResponse(w, http.StatusOK, body)
}

// respond checks a request, runs its operation and returns the response body.
func (s *Server) respond(r *http.Request) ([]byte, error) {
	name, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	if r.Method != http.MethodPost || r.URL.Path != "/" || !ok {
		return nil, &apiError{http.StatusBadRequest, "UnknownOperationException", "",
			fmt.Sprintf("%s %s with X-Amz-Target %q: must be POST / with X-Amz-Target %sOperation",
				r.Method, r.URL.Path, r.Header.Get("X-Amz-Target"), targetPrefix)}
	}
	if r.Header.Get("Authorization") == "" {
		return nil, &apiError{http.StatusBadRequest, "MissingAuthenticationTokenException", "",
			"Missing Authentication Token: sign the request with any credentials"}
	}
	do, ok := s.operations[name]
	if !ok {
		return nil, &apiError{http.StatusBadRequest, "UnknownOperationException", "",
			fmt.Sprintf("%s is not supported by the local cloud, which supports %s",
				name, strings.Join(slices.Sorted(maps.Keys(s.operations)), ", "))}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, &apiError{http.StatusBadRequest, "SerializationException", "", err.Error()}
	}
	output, err := do(body)
	if err != nil {
		return nil, err
	}
	return encode(output)
}

func writeResponse(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", NewID("request"))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has gone
}
