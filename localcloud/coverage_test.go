package localcloud_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/simulator/catalog"
)

// A type either has a handler or is only recorded, and parts are left out only of
// types that have one.
func TestCoverageAgreesWithTheHandlers(t *testing.T) {
	handled, coverage := localcloud.HandledTypes(), localcloud.Coverage()
	require.NotEmpty(t, handled)
	for token, what := range localcloud.RecordedTypes() {
		require.NotContains(t, handled, token, "it has a handler: move it to recordedParts")
		require.NotEmpty(t, what, token)
		require.Equal(t, what, coverage[token])
	}
	for token, what := range localcloud.RecordedParts() {
		require.Contains(t, handled, token, "it has no handler: move it to recordedTypes")
		require.Equal(t, what, coverage[token])
	}
	for _, token := range handled {
		require.Contains(t, coverage, token)
	}
}

// The provider servers refuse to start with a handler of a type that they do not know.
func TestHandledTypesAreInTheCatalog(t *testing.T) {
	packages := catalog.Packages()
	for _, token := range localcloud.HandledTypes() {
		name, _, _ := strings.Cut(token, ":")
		require.NotNil(t, packages[name].Resources[token].Args, token)
	}
}

func TestRecordedOnlyNamesEachOnce(t *testing.T) {
	all := localcloud.RecordedOnly()
	require.True(t, slices.IsSorted(all))
	require.Equal(t, slices.Compact(slices.Clone(all)), all)
	for _, what := range []string{
		"CloudWatch: no service reports metrics to it, so YACE does not run", "IAM: decides in S3 only, and not by AWS's own managed policies",
		"Kubernetes: network policies admit everything", "S3: lifecycle rules expire nothing",
		"YARN: a container that takes more memory than it asked for is not ended",
	} {
		require.Contains(t, all, what)
	}
}
