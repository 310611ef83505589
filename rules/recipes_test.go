package rules_test

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
)

// What stands between these lines of a recipe is rendered from the rules.
const (
	rendered    = "<!-- rendered from package rules -->\n"
	endRendered = "<!-- end -->\n"
)

// The tables of the recipes are rendered from the rules that name them.
func TestReferenceTablesOfRecipes(t *testing.T) {
	for _, recipe := range rules.Recipes() {
		path := "../" + recipe.Path()
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		before, rest, found := strings.Cut(string(content), rendered)
		require.Truef(t, found, "%s has no line %s", path, rendered)
		_, after, found := strings.Cut(rest, endRendered)
		require.Truef(t, found, "%s has no line %s", path, endRendered)
		want := before + rendered + "\n" + recipeTables(recipe) + "\n" + endRendered + after
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
			continue
		}
		require.Equal(t, want, string(content), "run `make generate`")
	}
}

func recipeTables(recipe rules.Recipe) string {
	var b strings.Builder
	b.WriteString("| Finding | Signal | Warning | Critical | Whose limit |\n|---|---|---|---|---|\n")
	var of []rules.Rule
	for _, r := range rules.All() {
		if r.Recipe == recipe {
			of = append(of, r)
			fmt.Fprintf(&b, "| [`%s`](../../reference/rules.md#%s) | %s | %s | %s | %s |\n", r.ID, r.ID, r.Signal,
				rules.Format(r.Warn, r.Unit), rules.Format(r.Critical, r.Unit), shortSources(r.Sources))
		}
	}
	b.WriteString("\n| Finding | Setting | Value | When | Classification | Releases |\n|---|---|---|---|---|---|\n")
	for _, r := range of {
		for _, c := range r.Changes {
			value := "depends on the job"
			if c.Value != "" {
				value = "`" + c.Value + "`"
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s |\n",
				r.ID, c.Property, value, cmp.Or(c.When, "always"), c.Classification, releases(c))
		}
	}
	return b.String()
}

// Every rule of applications has a recipe, and every recipe a rule.
func TestEveryRuleHasARecipe(t *testing.T) {
	used := map[rules.Recipe]bool{"": true}
	for _, recipe := range rules.Recipes() {
		used[recipe] = false
	}
	for _, r := range rules.All() {
		_, known := used[r.Recipe]
		require.True(t, known, r.ID)
		used[r.Recipe] = true
		of := r.Subject == rules.OfApplication || r.Subject == rules.OfStage || r.Subject == rules.OfSQL
		require.Equal(t, of, r.Recipe != "", r.ID)
	}
	for recipe, has := range used {
		require.True(t, has, recipe)
	}
}
