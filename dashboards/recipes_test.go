package dashboards_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/tests/recipes"
)

// The recipes' queries name metrics and labels that the platform emits. They answer by
// application, and take last values of what the rules' own queries take them of.
func TestRecipesQueryEmittedMetrics(t *testing.T) {
	count := 0
	for _, page := range recipes.Pages(t, "..") {
		for _, query := range page.Blocks("promql") {
			count++
			checkMetrics(t, query)
			require.Containsf(t, query, "["+rules.LiveWindow+"]", "%s: another window than the rules'", page.Name)
			require.Containsf(t, query, "by (cluster", "%s: not by cluster and application", page.Name)
			require.NotContainsf(t, strings.ReplaceAll(query, "> 0", ""), ">", "%s repeats a limit", page.Name)
		}
	}
	require.GreaterOrEqual(t, count, len(rules.Recipes()))
}
