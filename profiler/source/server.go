package source

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Server is a history server or a Spark UI at a known URL that needs no login.
type Server struct {
	client *history.Client
	id     tables.Cluster
}

// NewServer returns the source of a URL. name becomes the cluster_id of its rows; if it is
// "", the URL's host does. NewServer sends no request.
func NewServer(base, name string, o history.Options) (*Server, error) {
	parsed, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("open the history server: %w", err)
	}
	client, err := history.Open(base, o)
	if err != nil {
		return nil, err
	}
	name = cmp.Or(name, parsed.Hostname())
	return &Server{client: client, id: tables.Cluster{ClusterID: name, ClusterName: name}}, nil
}

// Estimate is 0: a history server has no quota.
func (*Server) Estimate(int) time.Duration { return 0 }

// Discover returns the server as one cluster.
func (s *Server) Discover(context.Context) ([]Listed, error) { return []Listed{{ID: s.id}}, nil }

// Open lists the server's applications.
func (s *Server) Open(ctx context.Context, _ Listed) (*Cluster, error) {
	cluster := &Cluster{Summary: tables.ClusterSummary{Cluster: s.id}}
	var err error
	if cluster.Applications, err = serverApplications(ctx, s.client, s.id); err != nil {
		return nil, err
	}
	cluster.report(EndpointApplications, nil)
	return cluster, nil
}
