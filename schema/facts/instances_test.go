package facts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// The lookups search sorted lists.
func TestInstancesAreSorted(t *testing.T) {
	file := facts.Instances()
	require.True(t, slices.IsSortedFunc(file.Types, func(a, b facts.InstanceType) int { return strings.Compare(a.Name, b.Name) }))
	require.True(t, slices.IsSortedFunc(file.Families, func(a, b facts.Family) int { return strings.Compare(a.Name, b.Name) }))
	for _, one := range file.Types {
		found, ok := facts.InstanceTypeNamed(one.Name)
		require.True(t, ok)
		require.Equal(t, one, found)
		require.Positive(t, one.VCPUs, one.Name)
		require.Positive(t, one.MemoryMiB, one.Name)
		family, ok := facts.FamilyOf(one.Name)
		require.True(t, ok, one.Name)
		require.Equal(t, one.Arch, family.Arch, one.Name)
	}
}

func TestRejectsR5Large(t *testing.T) {
	_, ok := facts.InstanceTypeNamed("r5.large")
	require.False(t, ok)
	_, ok = facts.InstanceTypeNamed("r5.xlarge")
	require.True(t, ok)
}

func TestTypesByRelease(t *testing.T) {
	g6, ok := facts.InstanceTypeNamed("g6.xlarge")
	require.True(t, ok)
	require.False(t, g6.IsIn("emr-7.1.0"))
	require.True(t, g6.IsIn("emr-7.2.0"))
	require.True(t, g6.IsIn("emr-9.0.0"), "a newer release takes what the newest known one takes")
}
