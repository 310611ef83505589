// Package senders tells the relay before the stores, from the control node, which cluster the address
// of each node belongs to, as EMR lists instances: a sender can name any cluster, but not choose its
// address.
//
// It limits nothing: package redelivery/limit does. It keeps nothing: after a restart it asks EMR about
// every cluster again before it tells the relay anything, which goes by what it was told last.
package senders

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	"golang.org/x/time/rate"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

const (
	// EMR allows an account half a call of a kind per second, and five at once (Management Guide,
	// "What are Amazon EMR service quotas"). This is half of it; the profiler lists instances, too.
	callsPerSecond = 0.25
	callsAtOnce    = 5

	// age is how old the list of a cluster's nodes may be, if the quota suffices. Until a node is listed
	// it has a share of its own.
	age     = time.Minute
	timeout = 10 * time.Second // of a cluster's list, and of the relay's answer
)

// Recorder reads the addresses of nodes and passes them on.
type Recorder struct {
	*recording.Loop

	source    status.Source
	instances emr.ListInstancesAPIClient
	calls     *rate.Limiter
	known     map[string]listing // by cluster
}

// listing is EMR's last answer about the nodes of a cluster.
type listing struct {
	addresses []string
	at        time.Time // when EMR has answered
	next      time.Time // when it is asked again
	failure   error
}

// New returns a recorder of the nodes of the source's clusters.
func New(source status.Source, instances emr.ListInstancesAPIClient) *Recorder {
	r := &Recorder{
		source: source, instances: instances, calls: rate.NewLimiter(callsPerSecond, callsAtOnce), known: map[string]listing{},
	}
	r.Loop = recording.New("senders", r.record)
	return r
}

// record asks EMR about the clusters whose lists are the oldest, as many as its quota allows, and
// passes on the addresses of all. It passes them on in each round: the relay keeps them in memory.
func (r *Recorder) record(ctx context.Context, now time.Time) []error {
	var clusters []string
	for _, c := range r.source.Clusters.Observed() {
		if c.State != "" && !c.Final() {
			clusters = append(clusters, c.ID)
		}
	}
	slices.SortStableFunc(clusters, func(a, b string) int {
		return cmp.Or(r.known[a].next.Compare(r.known[b].next), strings.Compare(a, b))
	})
	current, errs := map[string]listing{}, []error(nil)
	for _, id := range clusters {
		nodes := r.known[id]
		if !now.Before(nodes.next) && r.calls.AllowN(now, 1) {
			nodes = r.list(ctx, id, nodes, now)
		}
		current[id] = nodes
		if nodes.failure != nil {
			errs = append(errs, nodes.failure)
		}
	}
	r.known = current
	for _, nodes := range current {
		if nodes.next.IsZero() {
			return errs // of this one EMR has not been asked yet
		}
	}
	if !r.source.Clusters.Whole() {
		return errs // nor about all clusters
	}
	if err := r.pass(ctx, senders(current)); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// senders returns the cluster of each address. EC2 gives the address of an instance that has ended to
// another one, so that the newest list is right.
func senders(current map[string]listing) map[string]string {
	out := map[string]string{}
	for _, id := range slices.SortedFunc(maps.Keys(current), func(a, b string) int {
		return cmp.Or(current[a].at.Compare(current[b].at), strings.Compare(a, b))
	}) {
		for _, address := range current[id].addresses {
			out[address] = id
		}
	}
	return out
}

// list asks EMR for a cluster's nodes. After a failure the last answer stands.
func (r *Recorder) list(ctx context.Context, cluster string, last listing, now time.Time) listing {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found := listing{at: now, next: now.Add(age)}
	pages := emr.NewListInstancesPaginator(r.instances, &emr.ListInstancesInput{
		ClusterId: aws.String(cluster),
		InstanceStates: []types.InstanceState{
			types.InstanceStateProvisioning, types.InstanceStateBootstrapping, types.InstanceStateRunning,
		},
	})
	for first := true; pages.HasMorePages(); first = false {
		if !first {
			r.calls.ReserveN(now, 1) // later lists wait for it
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			last.next, last.failure = found.next, fmt.Errorf("list the nodes of cluster %s, whose limits they share: %w", cluster, reason(err))
			return last
		}
		for _, instance := range page.Instances {
			if address := aws.ToString(instance.PrivateIpAddress); address != "" {
				found.addresses = append(found.addresses, address)
			}
		}
	}
	return found
}

// reason is what EMR says of a failure, without the id of the request, which would make each a new one.
func reason(err error) error {
	if refused := smithy.APIError(nil); errors.As(err, &refused) {
		return fmt.Errorf("%s: %s", refused.ErrorCode(), refused.ErrorMessage())
	}
	return err
}

// pass gives the relay the clusters' ids by address.
func (r *Recorder) pass(ctx context.Context, senders map[string]string) error {
	body, err := json.Marshal(senders)
	if err != nil {
		return fmt.Errorf("encode the senders: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	url := r.source.Config.Endpoints[platform.WorkloadRedelivery].URL + platform.SendersPath
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("tell the relay whose nodes send: %w", err)
	}
	response, err := r.source.Client.Do(request)
	if err != nil {
		return fmt.Errorf("tell the relay whose nodes send: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("tell the relay whose nodes send: %s: %s", response.Status, bytes.TrimSpace(text))
	}
	return nil
}
