package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/observe/runjobflow"
	"github.com/emr-observatory/emr-observatory/schema"
)

// TestBothRenderingsOfAClusterAgree renders random clusters for Pulumi and for
// RunJobFlow. Both say the same, and botocore accepts it.
func TestBothRenderingsOfAClusterAgree(t *testing.T) {
	authority := issuer.Issue(t, time.Now().AddDate(1, 0, 0), "otlp.example.com").Intermediate
	var lines []string
	shapes := map[string]int{}
	const most = 300
	for seed := uint64(0); len(lines) < most; seed++ {
		cfg, _ := generator{rand.New(rand.NewPCG(seed, 2)), t, authority}.config()
		for key, cluster := range cfg.Clusters {
			input := plain(t, runjobflow.Input(cluster, environment(key)))
			require.Equal(t, fromPulumi(t, recordCluster(t, key, cluster, cfg)), withSecurity(t, cluster, input), "seed %d, %s", seed, key)
			line, err := json.Marshal(input)
			require.NoError(t, err)
			lines = append(lines, string(line))
			shapes[fmt.Sprint(cluster.Fleets != nil, cluster.HasCore(), cluster.ManagedScaling != nil, len(cluster.Tasks) > 0)]++
		}
	}
	require.GreaterOrEqual(t, len(shapes), 6, "the clusters are too similar: %v", shapes)
	testenv.RequireInputs(t, "emr", "RunJobFlow", lines...)
}

// withSecurity returns an input without the names of its environment, with the security
// configuration of the cluster.
func withSecurity(t *testing.T, cluster schema.Cluster, input map[string]any) map[string]any {
	t.Helper()
	out := withoutEnvironment(input)
	out["security"] = securityDocument(t, cluster)
	return out
}

// securityDocument returns the document with which a security configuration is created.
func securityDocument(t *testing.T, cluster schema.Cluster) string {
	t.Helper()
	input, err := runjobflow.SecurityConfiguration(cluster, "name", "key")
	require.NoError(t, err)
	return *input.SecurityConfiguration
}

// password is what trial.Answers says of every parameter.
const password = "ami-0123456789abcdef0"

func environment(key string) runjobflow.Environment {
	return runjobflow.Environment{
		Key: key, Name: "name", ServiceRole: "service", InstanceProfile: "profile", SubnetIDs: []string{"subnet-0", "subnet-1"},
		Passwords: runjobflow.Passwords{KDC: password, Trust: password, Join: password},
		LogURI:    "s3://bucket/", Bucket: "bucket", Observe: observe.Settings{
			SecurityGroupID: "sg-observed", Bootstrap: observe.Bootstrap{Path: "s3://bucket/bootstrap.sh", Args: []string{"a", "b"}},
		},
	}
}

// plain returns the members of an input that are set, as its JSON has them.
func plain(t *testing.T, input any) map[string]any {
	t.Helper()
	text, err := runjobflow.Members(input)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

// withoutEnvironment removes what names resources around the cluster, and sorts groups and
// fleets by name: the provider adds those of tasks in calls of their own.
func withoutEnvironment(input map[string]any) map[string]any {
	out := maps.Clone(input)
	for _, key := range []string{"ServiceRole", "JobFlowRole", "AutoScalingRole", "LogUri", "LogEncryptionKmsKeyId", "SecurityConfiguration"} {
		delete(out, key)
	}
	given, _ := input["Instances"].(map[string]any)
	instances := maps.Clone(given)
	for _, key := range []string{"EmrManagedMasterSecurityGroup", "EmrManagedSlaveSecurityGroup", "ServiceAccessSecurityGroup"} {
		delete(instances, key)
	}
	for _, list := range []string{"InstanceGroups", "InstanceFleets"} {
		if all, set := instances[list].([]any); set {
			name := func(e any) string { return fmt.Sprint(e.(map[string]any)["Name"]) }
			instances[list] = slices.SortedFunc(slices.Values(all), func(a, b any) int { return strings.Compare(name(a), name(b)) })
		}
	}
	out["Instances"] = instances
	return out
}

// recordCluster records the resources that components/emr declares of a cluster.
func recordCluster(t *testing.T, key string, cluster schema.Cluster, cfg schema.Config) []recorder.Resource {
	t.Helper()
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String(cfg.Region)})
		if err != nil {
			return err
		}
		e := environment(key)
		_, err = emr.New(ctx, "emr", &emr.Args{
			Region: cfg.Region, Key: key, Name: e.Name, Cluster: cluster, Ephemeral: cfg.Ephemeral, VPCID: pulumi.String("vpc"),
			SubnetIDs: pulumi.ToStringArray(e.SubnetIDs), S3PrefixListID: pulumi.String("pl"),
			ObservedSecurityGroupID: pulumi.String(e.Observe.SecurityGroupID), Bucket: pulumi.String("bucket"),
			BucketARN: pulumi.String("arn:aws:s3:::b"),
			KMSKeyARN: pulumi.String("key"), BootstrapPath: pulumi.String(e.Observe.Bootstrap.Path),
			BootstrapArgs: pulumi.ToStringArray(e.Observe.Bootstrap.Args),
		}, pulumi.Provider(p))
		return err
	}, trial.Answers()...)
	require.NoError(t, err)
	return rec.Resources
}
