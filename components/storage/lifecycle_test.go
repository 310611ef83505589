package storage_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// rule is a lifecycle rule as the bucket's resource describes it.
type rule struct {
	id, prefix                                           string
	expirationDays, noncurrentDays, incompleteUploadDays float64
	deleteMarkers                                        bool
}

// lifecycle returns the rules of a recorded bucket.
func lifecycle(t *testing.T, rec *recorder.Recording, name string) []rule {
	t.Helper()
	var out []rule
	for _, v := range one(t, rec, lifecycleType, name).Inputs["rules"].ArrayValue() {
		o := v.ObjectValue()
		require.Equal(t, "Enabled", o["status"].StringValue())
		r := rule{id: o["id"].StringValue(), prefix: o["filter"].ObjectValue()["prefix"].StringValue()}
		if e, ok := o["expiration"]; ok {
			if d, ok := e.ObjectValue()["days"]; ok {
				r.expirationDays = d.NumberValue()
			}
			if m, ok := e.ObjectValue()["expiredObjectDeleteMarker"]; ok {
				r.deleteMarkers = m.BoolValue()
			}
		}
		if e, ok := o["noncurrentVersionExpiration"]; ok {
			r.noncurrentDays = e.ObjectValue()["noncurrentDays"].NumberValue()
		}
		if e, ok := o["abortIncompleteMultipartUpload"]; ok {
			r.incompleteUploadDays = e.ObjectValue()["daysAfterInitiation"].NumberValue()
		}
		out = append(out, r)
	}
	return out
}

func TestLifecycleRules(t *testing.T) {
	rec := run(t, validArgs())
	require.Equal(t, []rule{
		{id: "whole-bucket", incompleteUploadDays: 1, deleteMarkers: true},
		{id: "tempo-superseded", prefix: "tempo/", noncurrentDays: 1},
		{id: "pyroscope-superseded", prefix: "pyroscope/", noncurrentDays: 1},
		{id: "artifacts-superseded", prefix: "artifacts/", noncurrentDays: 365},
		{id: "emr-logs", prefix: "emr-logs/", expirationDays: 30, noncurrentDays: 30},
		{id: "lake-superseded", prefix: "lake/", noncurrentDays: 30},
		{id: "jupyter-superseded", prefix: "jupyter/", noncurrentDays: 30},
		{id: "compacted-superseded", prefix: "lake/history/compacted/", noncurrentDays: 1},
	}, lifecycle(t, rec, "storage-data"))
	require.Equal(t, []rule{{id: "logs", expirationDays: 30, noncurrentDays: 1, incompleteUploadDays: 1}}, lifecycle(t, rec, "storage-logs"))
}

// Nodes and pods fetch current artifacts at each start; only versions that have
// been replaced may expire, after exactly the configured days.
func TestOnlyReplacedArtifactsExpire(t *testing.T) {
	for _, days := range []int{0, 7, 365} {
		a := validArgs()
		a.Retention.ArtifactDays = days
		shortest := 0.0
		for _, r := range lifecycle(t, run(t, a), "storage-data") {
			if !overlaps(r, platform.PrefixArtifacts) {
				continue
			}
			require.Zero(t, r.expirationDays, "%+v", r)
			if r.noncurrentDays > 0 && (shortest == 0 || r.noncurrentDays < shortest) {
				shortest = r.noncurrentDays
			}
		}
		require.InDelta(t, days, shortest, 0, "S3 follows the shortest rule")
	}
}

// overlaps reports whether a rule applies to objects under a prefix.
func overlaps(r rule, p platform.Prefix) bool {
	return strings.HasPrefix(string(p), r.prefix) || strings.HasPrefix(r.prefix, string(p))
}

func TestInvalidArgsRegisterNothing(t *testing.T) {
	require.NoError(t, validArgs().Validate())
	for _, c := range []struct {
		name string
		edit func(*storage.Args)
		want string
	}{
		{"no region", func(a *storage.Args) { a.Region = "" }, `storage.region: ""`},
		{"no retention", func(a *storage.Args) { a.Retention.TempoDays = 0 }, `retention.tempoDays: 0`},
		{"negative retention", func(a *storage.Args) { a.Retention.PyroscopeDays = -1 }, `retention.pyroscopeDays: -1`},
		{"retention of days in hours", func(a *storage.Args) { a.Retention.TempoDays = 90000 }, `retention.tempoDays: 90000`},
		{"no log retention", func(a *storage.Args) { a.Retention.LogDays = 0 }, `retention.logDays: 0`},
		{"negative artifact retention", func(a *storage.Args) { a.Retention.ArtifactDays = -1 }, `retention.artifactDays: -1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := validArgs()
			c.edit(a)
			require.ErrorContains(t, a.Validate(), c.want)
			rec, err := recorder.Run(program(a), recorderOptions()...)
			require.ErrorContains(t, err, c.want, "New refuses what Validate refuses")
			require.Equal(t, []string{"pulumi:providers:aws main"}, rec.List())
		})
	}
	require.Error(t, (*storage.Args)(nil).Validate())
}

// Tempo and Pyroscope delete their own blocks: S3 deletes only noncurrent
// versions.
func TestLifecycleSparesBlocks(t *testing.T) {
	for _, r := range lifecycle(t, run(t, validArgs()), "storage-data") {
		for _, prefix := range []platform.Prefix{platform.PrefixTempo, platform.PrefixPyroscope} {
			require.False(t, overlaps(r, prefix) && r.expirationDays > 0, "%+v", r)
		}
	}
}
