package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

func TestAcceptRejectsNamesOfWhatIsNotLost(t *testing.T) {
	plan := changes.Plan{
		{Name: "emr-cluster", Effect: changes.Replaced, Holds: "steps"},
		{Name: "emr-task", Effect: changes.Updated},
	}
	require.NoError(t, checkAccepted(nil, plan))
	require.NoError(t, checkAccepted([]string{"emr-cluster"}, plan))
	require.EqualError(t, checkAccepted([]string{"emr-task"}, plan), "--accept emr-task: must name what this up would lose (emr-cluster)")
}
