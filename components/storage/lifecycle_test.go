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
		{id: "whole-bucket", noncurrentDays: 30, incompleteUploadDays: 1, deleteMarkers: true},
		{id: "emr-logs", prefix: "emr-logs/", expirationDays: 30},
		{id: "artifacts", prefix: "artifacts/", expirationDays: 365},
		{id: "tempo-superseded", prefix: "tempo/", noncurrentDays: 1},
		{id: "pyroscope-superseded", prefix: "pyroscope/", noncurrentDays: 1},
	}, lifecycle(t, rec, "storage-data"))
	require.Equal(t, []rule{{id: "logs", expirationDays: 30, noncurrentDays: 1, incompleteUploadDays: 1}}, lifecycle(t, rec, "storage-logs"))
}

func TestZeroArtifactDaysKeepsArtifacts(t *testing.T) {
	a := validArgs()
	a.Retention.ArtifactDays = 0
	for _, r := range lifecycle(t, run(t, a), "storage-data") {
		require.NotEqual(t, "artifacts/", r.prefix)
	}
}

func TestInvalidArgsRegisterNothing(t *testing.T) {
	require.NoError(t, validArgs().Validate())
	for _, c := range []struct {
		name string
		edit func(*storage.Args)
		want string
	}{
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
			overlaps := strings.HasPrefix(string(prefix), r.prefix) || strings.HasPrefix(r.prefix, string(prefix))
			require.False(t, overlaps && r.expirationDays > 0, "%+v", r)
		}
	}
}
