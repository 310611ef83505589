package findings_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/rules"
)

// The most costly findings of a rule are kept, and the others counted.
func TestTheMostCostlyFindingsAreKept(t *testing.T) {
	w := healthy()
	limits()[rules.Skew].at(w)
	w.application.DurationMillis = nil // a share would leave out the cheap ones
	stage, summary := w.stages[0], w.summaries[0]
	w.stages, w.summaries = nil, nil
	const stages = 500
	for id := range int64(stages) {
		s, q := stage, summary
		s.StageID, q.StageID = id, id
		q.Duration = []float64{900, 950, 1000, 1050, 10_000 + float64(id*7919%stages)}
		w.stages, w.summaries = append(w.stages, s), append(w.summaries, q)
	}
	found, _ := w.judge(t)
	kept := found[rules.Skew]
	require.Len(t, kept, rules.MostOfRule)
	for i, f := range kept {
		require.EqualValues(t, stages, *f.Total)
		require.EqualValues(t, 9000+stages-1-i, *f.Impact)
	}
}

// What cost most time comes first, then core-hours, then what happened.
func TestFindingsAreInOrder(t *testing.T) {
	w := healthy()
	for _, id := range []rules.ID{rules.Skew, rules.Spill, rules.SlowWrite, rules.DriverBound, rules.IdleCores, rules.ExecutorsLost} {
		limits()[id].at(w)
	}
	all, err := findings.Judge(w.rows())
	require.NoError(t, err)
	var timed, bases []string
	last := int64(math.MaxInt64)
	for _, f := range all {
		if f.NotChecked != "" {
			continue
		}
		if f.Impact != nil {
			require.LessOrEqual(t, *f.Impact, last)
			last = *f.Impact
			timed = append(timed, f.Finding)
		} else {
			bases = append(bases, f.Basis)
		}
	}
	require.Greater(t, len(timed), 3)
	require.Equal(t, []string{string(rules.Cores), string(rules.Event)}, bases)
	require.NotNil(t, all[len(timed)-1].Impact, "timed ones are first")
}

// Advice is for the cluster's release.
func TestAdviceIsForTheRelease(t *testing.T) {
	const property = "spark.sql.parquet.output.committer.class"
	for release, want := range map[string]bool{"": false, "emr-6.15.0": true, "emr-7.9.0": true, "emr-7.9.1": true, "emr-7.10.0": false} {
		w := healthy()
		limits()[rules.SlowWrite].at(w)
		w.settings[property] = "org.apache.parquet.hadoop.ParquetOutputCommitter"
		rows := w.rows()
		rows.Release = release
		all, err := findings.Judge(rows)
		require.NoError(t, err)
		require.Equal(t, string(rules.SlowWrite), all[0].Finding)
		require.Equal(t, want, len(all[0].Changes) == 1, release)
	}
	w := healthy()
	limits()[rules.SlowWrite].at(w)
	found, _ := w.judge(t)
	require.Empty(t, found[rules.SlowWrite][0].Changes, "it was not changed")
}

// What an application shows is bounded, whatever texts its program has.
func TestTextsAreBounded(t *testing.T) {
	w := healthy()
	limits()[rules.Skew].at(w)
	limits()[rules.Spill].at(w)
	stage, summary := w.stages[0], w.summaries[0]
	stage.StageName = strings.Repeat("x", rules.MostBytes/rules.MostOfRule)
	w.stages, w.summaries = nil, nil
	for id := range int64(100) {
		s, q := stage, summary
		s.StageID, q.StageID = id, id
		w.stages, w.summaries = append(w.stages, s), append(w.summaries, q)
	}
	found, _ := w.judge(t)
	bytes := 0
	for _, of := range found {
		for _, f := range of {
			require.EqualValues(t, 100, *f.Total)
			bytes += len(f.Summary)
		}
	}
	require.Positive(t, bytes)
	require.LessOrEqual(t, bytes, rules.MostBytes)
}

// A rule whose only finding is cheap is shown beside one with many costly ones.
func TestEveryRuleIsShown(t *testing.T) {
	w := healthy()
	limits()[rules.Skew].at(w)
	stage, summary := w.stages[0], w.summaries[0]
	stage.StageName = strings.Repeat("x", rules.MostBytes/rules.MostOfRule)
	limits()[rules.ExecutorsLost].at(w)
	w.stages, w.summaries = nil, nil
	for id := range int64(100) {
		s, q := stage, summary
		s.StageID, q.StageID = id, id
		w.stages, w.summaries = append(w.stages, s), append(w.summaries, q)
	}
	found, _ := w.judge(t)
	require.Less(t, len(found[rules.Skew]), rules.MostOfRule)
	require.NotEmpty(t, found[rules.Skew])
	require.Len(t, found[rules.ExecutorsLost], 1)
}

// Every number that decides is in the rules: the code that judges has no others than 0 and 1.
func TestNoLimitsInCode(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	judged := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "text.go" { // units of texts
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && (literal.Kind == token.INT || literal.Kind == token.FLOAT) {
				judged++
				require.Containsf(t, []string{"0", "1", "0.0"}, literal.Value, "%s: a limit belongs into package rules", set.Position(literal.Pos()))
			}
			return true
		})
	}
	require.NotZero(t, judged)
}
