package emrapi

import "github.com/aws/aws-sdk-go-v2/service/emr/types"

// PutCluster adds a cluster without a request, which is not launched.
func (s *Store) PutCluster(cluster types.Cluster, groups []types.InstanceGroup, actions []types.Command) error {
	added, err := clone(record{Cluster: cluster, Groups: groups, Actions: actions})
	if err != nil {
		return err
	}
	return s.putNew(&added)
}
