package controls_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/stacks/controls"
)

var update = flag.Bool("update", false, "write the generated reference")

const maxExceptions = 8

func resources(t *testing.T, stack string) controls.Resources {
	t.Helper()
	return controls.Of(trial.Record(t, stack))
}

func TestEveryControlIsMetOrExcepted(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		t.Run(stack, func(t *testing.T) {
			verdicts := controls.Judge(resources(t, stack))
			if stack == "pr" { // its network is somebody else's, who answers for these
				for _, rule := range []string{"EMR.1", "CKV2_AWS_19", "CKV2_AWS_12", "CKV2_AWS_11", "CKV_AWS_130"} {
					at := slices.IndexFunc(verdicts, func(v controls.Verdict) bool { return v.Rule.ID() == rule })
					require.NotEmpty(t, verdicts[at].Unmet, rule)
					verdicts[at].Unmet = nil
				}
			}
			require.Empty(t, controls.Unmet(verdicts), "mend the component; an exception is for what was weighed")
			if stack != "pr" {
				require.Empty(t, controls.Unneeded(verdicts), "met after all: take the exception away")
			}
		})
	}
}

func TestExceptionsAreFewAndReasoned(t *testing.T) {
	require.LessOrEqual(t, len(controls.Exceptions()), maxExceptions)
	rules := map[string]bool{}
	for _, r := range controls.Rules() {
		rules[r.ID()] = true
	}
	for _, e := range controls.Exceptions() {
		require.True(t, rules[e.Rule], "%s is no rule", e.Rule)
		require.NotEmpty(t, e.Resources, e.Rule)
		require.NotEmpty(t, e.Reason, e.Rule)
		require.NotEmpty(t, e.Weighed, e.Rule)
	}
}

func TestNoControlIsClaimedTwice(t *testing.T) {
	seen := map[string]string{}
	for _, r := range controls.Rules() {
		require.NotEmpty(t, r.Wants, r.ID())
		for _, id := range r.IDs {
			require.Empty(t, seen[id], "%s is claimed by %s and %s", id, seen[id], r.ID())
			seen[id] = r.ID()
		}
	}
}

func TestReferenceIsGenerated(t *testing.T) {
	got := controls.Reference("dev", controls.Judge(resources(t, "dev")))
	file := filepath.Join(trial.Root(t), "docs", "reference", "controls.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run `make generate`")
}

// TestEveryKnownControlHasItsPlace lists what was found to be asked of EMR,
// its buckets, machines and roles. Each is a rule or finds no subject.
func TestEveryKnownControlHasItsPlace(t *testing.T) {
	known := []string{
		"CKV2_AWS_55", "CKV_AWS_171", "CKV_AWS_349", "CKV_AWS_350", "CKV_AWS_351", "CKV_AWS_114", "CKV_AWS_390",
		"AWS-0137", "AWS-0138", "AWS-0139", "EMR.1", "EMR.2", "EMR.3", "EMR.4", "CT.EMR.PR.1", "CT.EMR.PR.2", "CT.EMR.PR.3", "CT.EMR.PR.4",
		"emr_cluster_account_public_block_enabled", "emr_cluster_master_nodes_no_public_ip", "emr_cluster_publicly_accesible",
		"emr-master-no-public-ip", "emr-block-public-access", "48af92a5-c89b-4936-bc62-1086fe2bab23",
		"CKV_AWS_19", "CKV_AWS_145", "CKV_AWS_21", "CKV_AWS_18", "CKV2_AWS_6", "CKV_AWS_53", "CKV_AWS_54", "CKV_AWS_55", "CKV_AWS_56",
		"CKV2_AWS_61", "CKV_AWS_300", "CKV2_AWS_65", "CKV2_AWS_62", "CKV_AWS_144", "CKV_AWS_70", "CKV_AWS_93", "CKV_AWS_379",
		"S3.2", "S3.3", "S3.5", "S3.8", "S3.9", "S3.13",
		"CKV_AWS_8", "CKV_AWS_46", "CKV_AWS_79", "CKV_AWS_88", "CKV_AWS_126", "CKV_AWS_135", "CKV2_AWS_41", "CKV_AWS_341",
		"CKV_AWS_3", "CKV_AWS_189", "CKV2_AWS_9", "CKV_AWS_23", "AWS-0104", "AWS-0107", "CKV2_AWS_5", "CKV_AWS_7", "CKV_AWS_33",
		"CKV_AWS_60", "CKV_AWS_61", "CKV_AWS_62", "CKV_AWS_63", "CKV_AWS_274", "CKV_AWS_275",
		"CKV_AWS_66", "CKV_AWS_158", "CKV_AWS_338", "CKV_AWS_337", "CKV_AWS_149",
	}
	placed := map[string]bool{}
	for _, r := range controls.Rules() {
		for _, id := range r.IDs {
			placed[id] = true
		}
	}
	for _, n := range controls.Inapplicables() {
		for _, id := range n.IDs {
			require.False(t, placed[id], "%s is a rule and without a subject", id)
			placed[id] = true
		}
	}
	for _, id := range known {
		require.True(t, placed[id], id)
	}
}

func TestWhatIsInapplicableHasNoSubject(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		for _, n := range controls.Inapplicables() {
			require.NotEmpty(t, n.Why)
			require.Empty(t, resources(t, stack).OfType(n.Types...), "%v apply now: make rules of them", n.IDs)
		}
	}
}
