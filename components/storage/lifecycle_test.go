package storage_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// rule is a lifecycle rule as S3 would read it.
type rule struct {
	id, prefix                    string
	expire, superseded, abandoned float64
	markers                       bool
}

func lifecycle(t *testing.T, rec *recorder.Recording, name string) []rule {
	t.Helper()
	var out []rule
	for _, v := range one(t, rec, lifecycleType, name).Inputs["rules"].ArrayValue() {
		o := v.ObjectValue()
		require.Equal(t, "Enabled", o["status"].StringValue())
		r := rule{id: o["id"].StringValue(), prefix: o["filter"].ObjectValue()["prefix"].StringValue()}
		if e, ok := o["expiration"]; ok {
			if d, ok := e.ObjectValue()["days"]; ok {
				r.expire = d.NumberValue()
			}
			if m, ok := e.ObjectValue()["expiredObjectDeleteMarker"]; ok {
				r.markers = m.BoolValue()
			}
		}
		if e, ok := o["noncurrentVersionExpiration"]; ok {
			r.superseded = e.ObjectValue()["noncurrentDays"].NumberValue()
		}
		if e, ok := o["abortIncompleteMultipartUpload"]; ok {
			r.abandoned = e.ObjectValue()["daysAfterInitiation"].NumberValue()
		}
		out = append(out, r)
	}
	return out
}

func TestLifecycleIsExactlyThis(t *testing.T) {
	a := valid()
	a.Expirations = []storage.Expiration{{Prefix: "lake/scratch/", Days: 3}}
	rec := run(t, a)
	require.Equal(t, []rule{
		{id: "whole-bucket", superseded: 30, abandoned: 1, markers: true},
		{id: "emr-logs", prefix: "emr-logs/", expire: 30},
		{id: "artifacts", prefix: "artifacts/", expire: 365},
		{id: "tempo-superseded", prefix: "tempo/", superseded: 1},
		{id: "pyroscope-superseded", prefix: "pyroscope/", superseded: 1},
		{id: "expire-lake/scratch/", prefix: "lake/scratch/", expire: 3},
	}, lifecycle(t, rec, "storage-data"))
	require.Equal(t, []rule{{id: "logs", expire: 30, superseded: 1, abandoned: 1}}, lifecycle(t, rec, "storage-logs"))
}

func TestArtifactsStayForEverAtZero(t *testing.T) {
	a := valid()
	a.ArtifactRetentionDays = 0
	for _, r := range lifecycle(t, run(t, a), "storage-data") {
		require.NotEqual(t, "artifacts/", r.prefix)
	}
}

func TestValidate(t *testing.T) {
	require.NoError(t, valid().Validate())
	expire := func(prefix string, days int) func(*storage.Args) {
		return func(a *storage.Args) { a.Expirations = []storage.Expiration{{Prefix: prefix, Days: days}} }
	}
	for _, ok := range []func(*storage.Args){
		expire("lake/", 1), expire("tempo/", 15), expire("pyroscope/", 8), expire("", 15),
		func(a *storage.Args) { a.TempoRetention = time.Hour },
	} {
		a := valid()
		ok(a)
		require.NoError(t, a.Validate())
	}
	for _, c := range []struct {
		name string
		edit func(*storage.Args)
		want string
	}{
		{"no retention", func(a *storage.Args) { a.TempoRetention = 0 }, `storage.tempoRetention: "0s"`},
		{"negative retention", func(a *storage.Args) { a.PyroscopeRetention = -time.Hour }, `storage.pyroscopeRetention: "-1h0m0s"`},
		{"retention of days in hours", func(a *storage.Args) { a.TempoRetention = 90000 * time.Hour }, `storage.tempoRetention: "90000h0m0s"`},
		{"no log retention", func(a *storage.Args) { a.LogRetentionDays = 0 }, `storage.logRetentionDays: 0`},
		{"negative artifact retention", func(a *storage.Args) { a.ArtifactRetentionDays = -1 }, `storage.artifactRetentionDays: -1`},
		{"blocks on their last day", expire("tempo/", 14), `storage.expirations[0]: {"Prefix":"tempo/","Days":14} must not delete blocks under tempo/ before 14 days`},
		{"part of the blocks", expire("tempo/single-tenant/", 14), `must not delete blocks under tempo/`},
		{"everything", expire("", 10), `must not delete blocks under tempo/`},
		{"a letter that begins two prefixes", expire("p", 7), `must not delete blocks under pyroscope/ before 7 days`},
		{"no days", expire("lake/", 0), `storage.expirations[0].days: 0`},
		{"leading slash", expire("/lake/", 5), `storage.expirations[0].prefix: "/lake/"`},
		{"same prefix", func(a *storage.Args) {
			a.Expirations = []storage.Expiration{{Prefix: "lake/", Days: 5}, {Prefix: "lake/", Days: 6}}
		}, `storage.expirations[1].prefix: "lake/"`},
		{"tag of the platform", func(a *storage.Args) { a.Tags["Name"] = "x" }, `storage.tags.Name`},
		{"odd tag", func(a *storage.Args) { a.Tags["x"] = "a<b" }, `storage.tags.x: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := valid()
			c.edit(a)
			require.ErrorContains(t, a.Validate(), c.want)
			rec, err := recorder.Run(program(a), options()...)
			require.ErrorContains(t, err, c.want, "New refuses what Validate refuses")
			require.Equal(t, []string{"pulumi:providers:aws main"}, rec.List())
		})
	}
}

func TestValidateTellsAllFaultsAtOnce(t *testing.T) {
	err := (&storage.Args{Expirations: []storage.Expiration{{Prefix: "/", Days: -1}}}).Validate()
	for _, path := range []string{"tempoRetention", "pyroscopeRetention", "logRetentionDays", "expirations[0].days", "expirations[0].prefix"} {
		require.ErrorContains(t, err, "storage."+path)
	}
	require.Error(t, (*storage.Args)(nil).Validate())
}

// Whatever Validate lets through, no rule deletes a block that its server
// still reads.
func TestNoValidRuleTakesBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	prefixes := []string{"", "t", "tempo", "tempo/", "tempo/x/", "p", "pyroscope/", "lake/", "lake/tempo/", "emr-logs/"}
	accepted, refused := 0, 0
	for range 2000 {
		a := valid()
		a.TempoRetention = time.Duration(1+random.IntN(400)) * time.Hour
		a.PyroscopeRetention = time.Duration(1+random.IntN(400)) * time.Hour
		a.Expirations = []storage.Expiration{{Prefix: prefixes[random.IntN(len(prefixes))], Days: 1 + random.IntN(20)}}
		if a.Validate() != nil {
			refused++
			continue
		}
		accepted++
		if accepted > 60 {
			continue // each run of the program takes its time
		}
		for _, r := range lifecycle(t, run(t, a), "storage-data") {
			for prefix, keep := range map[platform.Prefix]time.Duration{platform.PrefixTempo: a.TempoRetention, platform.PrefixPyroscope: a.PyroscopeRetention} {
				if block := string(prefix) + "x/y"; r.expire > 0 && (strings.HasPrefix(block, r.prefix) || strings.HasPrefix(r.prefix, string(prefix))) {
					require.Greater(t, time.Duration(r.expire)*24*time.Hour, keep, "%+v with %s", r, keep)
				}
			}
		}
	}
	require.Greater(t, accepted, 100)
	require.Greater(t, refused, 100)
}
