package emr

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Names of the web pages of the oldest running cluster, for Service.Expose.
const (
	ResourceManager = platform.ServiceResourceManager
	SparkHistory    = platform.ServiceSparkHistory
)

// MaxExposed is how many clusters have their web pages exposed at a time.
const MaxExposed = 4

// PageName returns the name of a web page of the n-th running cluster, from 0, the
// oldest first.
func PageName(page string, n int) string {
	if n == 0 {
		return page
	}
	return fmt.Sprintf("%s-%d", page, n+1)
}

// exposePages exposes the web pages of the running clusters, and no longer those of
// others.
func (s *Service) exposePages() {
	s.exposing.Lock()
	defer s.exposing.Unlock()
	ids := s.Store.ClusterIDs() // the newest first
	n := 0
	for i := len(ids) - 1; i >= 0 && n < MaxExposed; i-- {
		c, err := s.Store.Cluster(ids[i])
		if err != nil || c.Status.State != types.ClusterStateRunning && c.Status.State != types.ClusterStateWaiting {
			continue
		}
		nodes, err := s.clusterNodes(ids[i])
		if err != nil {
			continue
		}
		s.exposeCluster(n, nodes[0].ip())
		n++
	}
	for ; n < MaxExposed; n++ {
		s.exposeCluster(n, "")
	}
}

// exposeCluster exposes the pages of a primary node's address, or with "" none.
func (s *Service) exposeCluster(n int, ip string) {
	for page, port := range map[string]platform.Port{
		ResourceManager: platform.ResourceManagerUI, SparkHistory: platform.SparkHistoryUI,
	} {
		address := ""
		if ip != "" {
			address = fmt.Sprintf("%s:%d", ip, port)
		}
		s.Expose(PageName(page, n), address)
	}
}
