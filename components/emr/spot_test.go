package emr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/schema"
)

const getRoles = "aws:iam/getRoles:getRoles"

// withRoles answers the look-up of service-linked roles.
func withRoles(names ...any) recorder.Option {
	return recorder.WithInvoke(getRoles, map[string]any{"names": names, "arns": names, "id": "us-east-1"})
}

func TestSpotNeedsTheAccountsRole(t *testing.T) {
	args := validArgs()
	args.Core.BidPrice = "0.2"
	args.Tasks = map[string]schema.InstanceGroup{"spot": {InstanceType: "m5.xlarge", Count: 1, BidPrice: "0.1"}}
	run := func(args *emr.Args, more ...recorder.Option) (*recorder.Recording, error) {
		return recorder.Run(program(args), append(recorderOptions("aws", "amazonaws.com"), more...)...)
	}
	rec, err := run(args, withRoles("AWSServiceRoleForEC2Spot"))
	require.NoError(t, err)
	require.Contains(t, rec.Invokes, getRoles)

	_, err = run(args, withRoles())
	for _, path := range []string{`clusters.main.core.bidPrice: "0.2" `, `clusters.main.tasks.spot.bidPrice: "0.1" `} {
		require.ErrorContains(t, err, path+"must be empty in an account without the role AWSServiceRoleForEC2Spot")
	}
	require.ErrorContains(t, err, "`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`")
	require.NotContains(t, err.Error(), "clusters.main.master")

	_, err = run(fleetArgs(), withRoles())
	for _, fleet := range []string{"core.spot: 4", "task.spot: 8"} {
		require.ErrorContains(t, err, "clusters.main.fleets."+fleet+" must be 0 in an account without the role")
	}

	rec, err = run(validArgs())
	require.NoError(t, err)
	require.NotContains(t, rec.Invokes, getRoles, "nothing is on spot")
}
