package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud/internet"
)

// The local cloud's workstation is in the operators' networks of its stack, and reaches
// a public control node only.
func TestLocalCloudNeedsAPublicControlNode(t *testing.T) {
	p := local.Platform{Project: trial.Root(t), State: t.TempDir(), Stack: "local"}
	cfg, err := p.Config(nil)
	require.NoError(t, err)
	require.Equal(t, []string{internet.WorkstationAddress + "/32"}, cfg.OperatorCIDRs)
	_, err = p.Config([]string{"controlNode.access=vpc"})
	require.ErrorContains(t, err, `emr-observatory:controlNode.access: "vpc" must be public on the local cloud`)
	require.ErrorContains(t, err, "put 192.88.99.10/32 into operatorCidrs")
}
