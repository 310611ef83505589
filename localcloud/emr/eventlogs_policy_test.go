package emr

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
)

// EMR keeps no history of a cluster whose upload policy disables it.
func TestDisabledHistoryIsNotCollected(t *testing.T) {
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	id := emrapitest.PutCluster(t, store, func(c *types.Cluster) {
		now := time.Now()
		c.Status.Timeline.ReadyDateTime = &now
		c.MonitoringConfiguration = &types.MonitoringConfiguration{S3LoggingConfiguration: &types.S3LoggingConfiguration{
			LogTypeUploadPolicy: map[string]types.LogUploadPolicyValue{"persistent-ui-logs": types.LogUploadPolicyValueDisabled},
		}}
	})
	_, found, err := (&Service{Store: store, UIs: &persistentui.Service{}}).hdfs(id)
	require.NoError(t, err, "without the policy, a cluster without nodes is an error")
	require.False(t, found)
}
