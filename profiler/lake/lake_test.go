package lake_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// start is when the applications of these tests start.
var start = time.Date(2026, 11, 24, 23, 59, 59, 0, time.FixedZone("", -3600))

// fill sets every field at random; some pointers and lists are empty. Strings are drawn from
// few values, so that they repeat and are out of order.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() { // rows have no other kinds
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Pointer:
		if r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		for range r.IntN(4) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			fill(r, v.Index(v.Len()-1))
		}
	case reflect.Int64:
		v.SetInt(r.Int64N(1 << 40))
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString(strings.Repeat("é", r.IntN(3)) + fmt.Sprint(r.IntN(1000)))
	default:
		panic(v.Kind())
	}
}

// rows returns up to n rows of every table of a scope, with distinct keys.
func rows(r *rand.Rand, scope tables.Scope, n int) (all []tables.Row) {
	for _, d := range tables.All() {
		if d.Scope != scope {
			continue
		}
		seen := map[string]bool{}
		for range n {
			row := reflect.New(d.Type)
			fill(r, row.Elem())
			if key := fmt.Sprint(keyOf(d, row.Elem())); !seen[key] {
				seen[key] = true
				all = append(all, row.Interface().(tables.Row))
			}
		}
	}
	return all
}

// keyOf returns the values of a row's key; null ones are nil.
func keyOf(d tables.Definition, row reflect.Value) (key []any) {
	for _, name := range d.Key {
		for _, field := range reflect.VisibleFields(d.Type) {
			column, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
			if column != name {
				continue
			}
			value := row.FieldByIndex(field.Index)
			if value.Kind() == reflect.Pointer {
				if value.IsNil() {
					key = append(key, nil)
					continue
				}
				value = value.Elem()
			}
			key = append(key, value.Interface())
		}
	}
	return key
}

// compareKeys orders keys; nil comes first.
func compareKeys(a, b []any) int {
	for i := range a {
		c := 0
		switch x := a[i].(type) {
		case nil:
			c = map[bool]int{true: 0, false: -1}[b[i] == nil]
		case int64:
			y, present := b[i].(int64)
			c = map[bool]int{true: cmp.Compare(x, y), false: 1}[present]
		case string:
			y, present := b[i].(string)
			c = map[bool]int{true: cmp.Compare(x, y), false: 1}[present]
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func openLocked(t *testing.T, dir string) *lake.Lake {
	t.Helper()
	l, err := lake.Open(t.Context(), folder(t, dir), "history/")
	require.NoError(t, err)
	lease, err := l.Lock(t.Context(), "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lease.Unlock(context.WithoutCancel(t.Context()))) })
	return l
}

func commit(t *testing.T, b *lake.Batch, final bool, fingerprint string, rows ...tables.Row) lake.Written {
	t.Helper()
	for _, row := range rows {
		require.NoError(t, b.Put(row))
	}
	written, err := b.Commit(t.Context(), final, fingerprint)
	require.NoError(t, err)
	return written
}

// files returns the SHA-256 of a folder's files by path, without the lake's lease, lock and
// unfinished files.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		switch {
		case entry != nil && entry.Name() == ".parts":
			return fs.SkipDir
		case err != nil || entry.IsDir() || entry.Name() == ".lock" || entry.Name() == "writer.json":
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	}))
	return all
}

var attempt = tables.Attempt{
	Cluster: tables.Cluster{Region: "eu-west-1", ClusterID: "j-1"}, ApplicationID: "application_1_0001", AttemptID: "1",
}

// Rows of every table are read back unchanged, ordered by key (tasks as they arrived), and
// the same rows in another order yield the same bytes.
func TestRowsRoundTrip(t *testing.T) {
	r := seeded(t)
	dir, other := t.TempDir(), t.TempDir()
	l := openLocked(t, dir)
	all, ofCluster := rows(r, tables.OfAttempt, 100), rows(r, tables.OfCluster, 10)
	b, err := l.Begin(attempt, start)
	require.NoError(t, err)
	require.Equal(t, count(tables.OfAttempt), commit(t, b, true, "v1", all...).Objects)
	require.FileExists(t, filepath.Join(dir, "history/jobs/dt=2026-11-25/application_1_0001.1.j-1.eu-west-1.-.parquet"))
	b, err = l.BeginCluster(attempt.Cluster, start)
	require.NoError(t, err)
	require.Equal(t, count(tables.OfCluster), commit(t, b, true, "v1", ofCluster...).Objects)

	all = append(all, ofCluster...)
	comesBack[tables.Application](t, l, all)
	comesBack[tables.ClusterSummary](t, l, all)
	comesBack[tables.Job](t, l, all)
	comesBack[tables.StageRow](t, l, all)
	comesBack[tables.Task](t, l, all)
	comesBack[tables.TaskSummary](t, l, all)
	comesBack[tables.SQL](t, l, all)
	comesBack[tables.SQLNode](t, l, all)
	comesBack[tables.Executor](t, l, all)
	comesBack[tables.Environment](t, l, all)
	comesBack[tables.Phase](t, l, all)
	comesBack[tables.Completeness](t, l, all)
	comesBack[tables.Finding](t, l, all)
	comesBack[tables.IneffJobRaw](t, l, all)
	comesBack[tables.IneffJobAgg](t, l, all)
	comesBack[tables.PhotonAnalysis](t, l, all)
	comesBack[tables.Step](t, l, all)
	comesBack[tables.Cost](t, l, all)
	comesBack[tables.Instance](t, l, all)
	comesBack[tables.ApplicationCost](t, l, all)

	l = openLocked(t, other)
	b, err = l.Begin(attempt, start)
	require.NoError(t, err)
	slices.SortStableFunc(all, func(a, b tables.Row) int { // by table
		return cmp.Compare(tables.Table(a), tables.Table(b))
	})
	shuffled := slices.DeleteFunc(slices.Clone(all), func(row tables.Row) bool {
		return tables.Table(row) == "tasks" || slices.Contains(ofCluster, row) || len(definition(tables.Table(row)).Key) == 0
	})
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	commit(t, b, true, "v1", shuffled...)
	first, second := files(t, dir), files(t, other)
	require.NotEmpty(t, second)
	for name := range second {
		if strings.HasSuffix(name, ".parquet") {
			require.Equalf(t, first[name], second[name], name)
		}
	}
}

func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func definition(name tables.Name) tables.Definition {
	all := tables.All()
	return all[slices.IndexFunc(all, func(d tables.Definition) bool { return d.Name == name })]
}

func count(scope tables.Scope) (n int) {
	for _, d := range tables.All() {
		if d.Scope == scope {
			n++
		}
	}
	return n
}

// comesBack compares the rows of a table in the lake with those that were put.
func comesBack[T any, P interface {
	*T
	tables.Row
}](t *testing.T, l *lake.Lake, put []tables.Row) {
	t.Helper()
	d := definition(tables.Table(P(nil)))
	var want []T
	for _, row := range put {
		if typed, is := row.(P); is {
			want = append(want, *typed)
		}
	}
	if !d.OptIn {
		slices.SortStableFunc(want, func(a, b T) int {
			return compareKeys(keyOf(d, reflect.ValueOf(a)), keyOf(d, reflect.ValueOf(b)))
		})
	}
	var got []T
	for row, err := range lake.Read[T, P](t.Context(), l, lake.Filter{ClusterID: attempt.ClusterID}) {
		require.NoError(t, err)
		got = append(got, row)
	}
	require.NotEmpty(t, got)
	require.Equal(t, normal(want), normal(got), d.Name)
}

// normal renders rows as JSON, in which empty and absent lists are equal.
func normal[T any](rows []T) string {
	text, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(text), ": null", ": []")
}

// Rows that arrive in any order keep their texts, the empty ones too.
func TestSortedRowsKeepTheirTexts(t *testing.T) {
	l := openLocked(t, t.TempDir())
	for i, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}} {
		id := tables.Cluster{ClusterID: fmt.Sprintf("j-%d", i)}
		want := []tables.Row{
			&tables.Step{Cluster: id, StepID: "s-1", StepName: "", ApplicationIDs: []string{}},
			&tables.Step{Cluster: id, StepID: "s-2", StepName: "load", ApplicationIDs: []string{"application_1_0001"}},
			&tables.Step{Cluster: id, StepID: "s-3", StepName: "", ApplicationIDs: []string{""}},
		}
		b, err := l.BeginCluster(id, time.Now())
		require.NoError(t, err)
		commit(t, b, true, "", want[order[0]], want[order[1]], want[order[2]])
		var got []tables.Row
		for row, err := range lake.Read[tables.Step](t.Context(), l, lake.Filter{ClusterID: id.ClusterID}) {
			require.NoError(t, err)
			got = append(got, &row)
		}
		require.Equal(t, want, got, order)
	}
}
