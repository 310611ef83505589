package deployer_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/tests/deployer"
)

var update = flag.Bool("update", false, "write the generated reference")

const folder = "../../docs/reference"

// clusters are such that each resource type of a cluster occurs: a task group that scales
// by rules, and a second cluster of fleets that EMR scales.
const clusters = `{
	"main": {"tasks": {"task": {"instanceType": "m5.xlarge", "count": 1, "autoScaling": {"min": 1, "max": 3, "rules": [
		{"name": "out", "adjustment": 1, "metric": "YARNMemoryAvailablePercentage", "comparison": "LESS_THAN", "threshold": 15},
		{"name": "in", "adjustment": -1, "metric": "YARNMemoryAvailablePercentage", "comparison": "GREATER_THAN", "threshold": 75}
	]}}}},
	"etl": {
		"fleets": {
			"master": {"onDemand": 1, "types": [{"instanceType": "m5.xlarge"}]},
			"core": {"onDemand": 1, "types": [{"instanceType": "m5.xlarge"}]},
			"task": {"onDemand": 1, "types": [{"instanceType": "m5.xlarge"}]}
		},
		"managedScaling": {"unit": "InstanceFleetUnits", "min": 1, "max": 4}
	}
}`

// record runs every stack, dev in an existing VPC, and one with those clusters and
// otherwise the defaults.
func record(t *testing.T) []*recorder.Recording {
	t.Helper()
	var out []*recorder.Recording
	for _, stack := range []string{"dev", "local", "pr"} {
		out = append(out, trial.Record(t, stack))
	}
	existing := trial.Values(t, "dev")
	existing[platform.Project+":network"] = `{"vpcId":"vpc-0123abcd","subnetIds":["subnet-0123abcd"],"publicSubnetId":"subnet-0123abce"}`
	return append(out, trial.Record(t, "dev", recorder.WithConfig(existing)), trial.Record(t, "dev", recorder.WithConfig(map[string]string{
		platform.Project + ":region":   "us-east-1",
		platform.Project + ":clusters": clusters,
		platform.Project + ":schedules": `{"nightly":{"expression":"cron(0 2 * * ? *)","cluster":"main",` +
			`"steps":[{"name":"load","args":["spark-submit","s3://bucket/load.py"]}]}}`,
	})))
}

// TestEveryResourceTypeAndFunctionHasItsRow fails for a new type or function of
// AWS without a row.
func TestEveryResourceTypeAndFunctionHasItsRow(t *testing.T) {
	used := map[string]bool{}
	for _, rec := range record(t) {
		for _, r := range rec.Resources {
			used[r.Type] = strings.HasPrefix(r.Type, "aws:")
		}
		for _, token := range rec.Invokes {
			used[token] = strings.HasPrefix(token, "aws:")
		}
	}
	maps.DeleteFunc(used, func(_ string, ofAWS bool) bool { return !ofAWS })
	action := regexp.MustCompile(`^[a-z0-9]+:[A-Z][A-Za-z0-9]+$`)
	listed := map[string]bool{}
	for _, r := range deployer.Rows() {
		require.False(t, listed[r.Token], "%s is listed twice", r.Token)
		listed[r.Token] = true
		delete(used, r.Token)
		require.Regexp(t, `\.go$`, r.Source, r.Token)
		for _, n := range r.Needs {
			require.NotEmpty(t, n.Source, "%s %v", r.Token, n.Actions)
		}
		for _, a := range r.Actions() {
			require.Regexp(t, action, a, r.Token)
		}
	}
	require.Empty(t, slices.Sorted(maps.Keys(used)), "add a row for each to tests/deployer/table_test.go")
}

// TestSimulatorKnowsWhatHasARow keeps types and functions that nothing here uses out of
// the simulator: each would need its rules, outputs and replacements.
func TestSimulatorKnowsWhatHasARow(t *testing.T) {
	var listed []string
	for _, r := range deployer.Rows() {
		listed = append(listed, r.Token)
	}
	aws := catalog.Packages()["aws"]
	require.ElementsMatch(t, listed, slices.AppendSeq(slices.Collect(maps.Keys(aws.Resources)), maps.Keys(aws.Functions)))
}

// isType is false for functions.
var isType = regexp.MustCompile(`:[A-Z]\w*$`)

// TestLocalCloudCoversEveryRow does for all types what TestEveryTypeOfTheStacksIsCovered of
// cmd/observatory does for those of the stacks: also those of options that no stack sets.
func TestLocalCloudCoversEveryRow(t *testing.T) {
	coverage := localcloud.Coverage()
	for _, row := range deployer.Rows() {
		if isType.MatchString(row.Token) {
			require.Contains(t, coverage, row.Token, "give it a handler in localcloud, or a phrase in localcloud/coverage.go")
		}
	}
}

// TestReferenceIsGenerated renders page and policies, each of which IAM accepts
// by size and by the form of its elements.
func TestReferenceIsGenerated(t *testing.T) {
	policies, err := deployer.Policies(deployer.Rows(), names(t))
	require.NoError(t, err)
	require.LessOrEqual(t, len(policies), 10, "IAM attaches ten managed policies to an identity")
	allowed := map[string]bool{}
	files := map[string]string{"deployer-policy.md": deployer.Reference(deployer.Rows(), policies)}
	for _, p := range policies {
		require.LessOrEqual(t, p.Size(), deployer.MaxPolicySize, p.Name)
		files[p.Name+".json"] = string(p.JSON)
		var document struct {
			Statement []struct{ Action, Resource []string }
		}
		require.NoError(t, json.Unmarshal(p.JSON, &document))
		for _, s := range document.Statement {
			require.NotEmpty(t, s.Resource)
			for _, a := range s.Action {
				require.NotContains(t, a, "*")
				allowed[a] = true
			}
		}
	}
	for _, r := range deployer.Rows() {
		for _, a := range r.Actions() {
			require.True(t, allowed[a], "%s needs %s", r.Token, a)
		}
	}
	for name, text := range files {
		file := filepath.Join(folder, name)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		}
		have, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(have), "run `make generate`")
	}
	have, err := filepath.Glob(filepath.Join(folder, "deployer-policy-*.json"))
	require.NoError(t, err)
	require.Len(t, have, len(policies), "remove the files of policies that no longer exist")
}

func names(t *testing.T) deployer.Names {
	t.Helper()
	found := map[string][]string{}
	for _, rec := range record(t) {
		for _, r := range rec.Resources {
			if name := ofAnyCluster(r.Name); !slices.Contains(found[r.Type], name) {
				found[r.Type] = append(found[r.Type], name)
			}
		}
	}
	for _, list := range found {
		slices.Sort(list)
	}
	return deployer.Names{
		Roles: found["aws:iam/role:Role"], Profiles: found["aws:iam/instanceProfile:InstanceProfile"],
		Policies: found["aws:iam/policy:Policy"], Buckets: found["aws:s3/bucketV2:BucketV2"],
	}
}

var clusterName = regexp.MustCompile(`^emr-(main|etl)-`)

// ofAnyCluster returns the name with a wildcard in place of a cluster's key: the policies
// hold for clusters that are added later.
func ofAnyCluster(name string) string {
	return clusterName.ReplaceAllString(name, "emr-*-")
}

// Where a policy bounds an action by resource, it admits every resource of the stacks. The
// ARNs are those of the Service Authorization Reference.
func TestPoliciesAdmitEveryNamedResource(t *testing.T) {
	policies, err := deployer.Policies(deployer.Rows(), names(t))
	require.NoError(t, err)
	admits := func(action, arn string) bool {
		for _, p := range policies {
			var document struct {
				Statement []struct{ Action, Resource []string }
			}
			require.NoError(t, json.Unmarshal(p.JSON, &document))
			for _, s := range document.Statement {
				if slices.Contains(s.Action, action) && slices.ContainsFunc(s.Resource, func(pattern string) bool {
					matched, err := path.Match(strings.ReplaceAll(pattern, "/", "|"), strings.ReplaceAll(arn, "/", "|"))
					return err == nil && matched
				}) {
					return true
				}
			}
		}
		return false
	}
	actions := map[string][2]string{
		"aws:iam/role:Role":                       {"iam:CreateRole", "arn:aws:iam::123456789012:role/%s-0a1b2c3"},
		"aws:iam/instanceProfile:InstanceProfile": {"iam:CreateInstanceProfile", "arn:aws:iam::123456789012:instance-profile/%s-0a1b2c3"},
		"aws:iam/policy:Policy":                   {"iam:CreatePolicy", "arn:aws:iam::123456789012:policy/%s-0a1b2c3"},
		"aws:s3/bucketV2:BucketV2":                {"s3:CreateBucket", "arn:aws:s3:::%s-0a1b2c3"},
	}
	checked := map[string]bool{}
	for _, rec := range record(t) {
		for _, r := range rec.Resources {
			if of, bounded := actions[r.Type]; bounded {
				require.True(t, admits(of[0], fmt.Sprintf(of[1], r.Name)), "%s of %s", of[0], r.Name)
				checked[r.Type] = true
			}
		}
	}
	require.Len(t, checked, len(actions))
}

// A service of more than one policy's size would have to be split by hand.
func TestPoliciesAreSplitAtIAMsLimit(t *testing.T) {
	long := func(service string) deployer.Row {
		r := deployer.Row{Token: service}
		for i := range 150 {
			r.Calls = append(r.Calls, service+":Action"+strings.Repeat("x", i%20)+string(rune('a'+i%26))+strings.Repeat("y", i/26))
		}
		return r
	}
	policies, err := deployer.Policies([]deployer.Row{long("aaa"), long("bbb"), long("ccc")}, deployer.Names{})
	require.NoError(t, err)
	require.Greater(t, len(policies), 1)
	for _, p := range policies {
		require.LessOrEqual(t, p.Size(), deployer.MaxPolicySize)
	}
}
