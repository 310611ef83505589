package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
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
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// validator reads one input of RunJobFlow per line and writes what botocore says.
const validator = `
import json, sys
import botocore.session, botocore.validate
shape = botocore.session.get_session().get_service_model('emr').operation_model('RunJobFlow').input_shape
for line in sys.stdin:
    report = botocore.validate.ParamValidator().validate(json.loads(line), shape)
    print(json.dumps(report.generate_report() if report.has_errors() else ''))
`

// TestBothRenderingsOfAClusterAgree renders random clusters for Pulumi and for
// RunJobFlow. Both say the same, and botocore accepts it.
func TestBothRenderingsOfAClusterAgree(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with boto3")
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
	requireJobFlows(t, python, lines)
}

// requireJobFlows requires botocore to accept each line as an input of RunJobFlow.
func requireJobFlows(t *testing.T, python string, lines []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), python, "-c", validator)
	command.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, answers, len(lines))
	for i, answer := range answers {
		require.Equal(t, `""`, answer, lines[i])
	}
}

// withSecurity returns what alike does, and the security configuration of the cluster.
func withSecurity(t *testing.T, cluster schema.Cluster, input map[string]any) map[string]any {
	t.Helper()
	out := alike(input)
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
		LogURI:    "s3://bucket/", Observe: observe.Settings{
			SecurityGroupID: "sg-observed", Bootstrap: observe.Bootstrap{Path: "s3://bucket/bootstrap.sh", Args: []string{"a", "b"}},
		},
	}
}

// plain returns the members of an input that are set, as its JSON has them.
func plain(t *testing.T, input any) map[string]any {
	t.Helper()
	text, err := json.Marshal(input)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out))
	return prune(out).(map[string]any)
}

// prune removes what Go's types hold without a value.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil || e == "" && k != "Value" && k != "Description" {
				delete(v, k)
				continue
			}
			v[k] = prune(e)
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

// alike returns what both renderings must say alike, by its name in EMR's API.
func alike(input map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"ReleaseLabel", "CustomAmiId", "EbsRootVolumeSize", "ScaleDownBehavior", "StepConcurrencyLevel",
		"Configurations", "KerberosAttributes"} {
		if v, set := input[key]; set {
			out[key] = v
		}
	}
	instances, _ := input["Instances"].(map[string]any)
	for _, key := range []string{"KeepJobFlowAliveWhenNoSteps", "TerminationProtected", "UnhealthyNodeReplacement"} {
		out[key] = instances[key]
	}
	for _, key := range []string{"AdditionalMasterSecurityGroups", "AdditionalSlaveSecurityGroups"} {
		out[key] = instances[key]
	}
	for _, list := range []string{"InstanceGroups", "InstanceFleets"} {
		all, _ := instances[list].([]any)
		for _, e := range all {
			g, _ := e.(map[string]any)
			name := fmt.Sprint(g["Name"])
			for _, key := range []string{"InstanceType", "InstanceCount", "BidPrice", "TargetOnDemandCapacity", "TargetSpotCapacity"} {
				if v, set := g[key]; set {
					out[name+"."+key] = v
				}
			}
			if policy, set := g["AutoScalingPolicy"]; set {
				out[name+".AutoScalingPolicy"] = policy
			}
			types, _ := g["InstanceTypeConfigs"].([]any)
			for i, e := range types {
				t, _ := e.(map[string]any)
				for _, key := range []string{"InstanceType", "WeightedCapacity", "BidPrice", "BidPriceAsPercentageOfOnDemandPrice"} {
					if v, set := t[key]; set {
						out[fmt.Sprintf("%s.%d.%s", name, i, key)] = v
					}
				}
			}
		}
	}
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

// fromPulumi returns the same as alike, of a cluster's resources.
func fromPulumi(t *testing.T, resources []recorder.Resource) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, r := range resources {
		in := r.Inputs.Mappable()
		switch r.Type {
		case "aws:emr/cluster:Cluster":
			addCluster(t, out, in)
			addKerberos(out, r.Inputs)
		case "aws:emr/securityConfiguration:SecurityConfiguration":
			out["security"] = in["configuration"]
		case "aws:emr/instanceGroup:InstanceGroup", "aws:emr/instanceFleet:InstanceFleet":
			addInstances(t, out, in)
		}
	}
	return out
}

func addCluster(t *testing.T, out, in map[string]any) {
	t.Helper()
	for from, to := range map[string]string{
		"releaseLabel": "ReleaseLabel", "customAmiId": "CustomAmiId", "ebsRootVolumeSize": "EbsRootVolumeSize",
		"scaleDownBehavior": "ScaleDownBehavior", "stepConcurrencyLevel": "StepConcurrencyLevel",
		"keepJobFlowAliveWhenNoSteps": "KeepJobFlowAliveWhenNoSteps", "terminationProtection": "TerminationProtected",
		"unhealthyNodeReplacement": "UnhealthyNodeReplacement",
	} {
		if v, set := in[from]; set {
			out[to] = v
		}
	}
	if text, set := in["configurationsJson"]; set {
		var list any
		require.NoError(t, json.Unmarshal([]byte(fmt.Sprint(text)), &list))
		out["Configurations"] = prune(list)
	}
	attributes, _ := in["ec2Attributes"].(map[string]any)
	for from, to := range map[string]string{"additionalMasterSecurityGroups": "AdditionalMasterSecurityGroups",
		"additionalSlaveSecurityGroups": "AdditionalSlaveSecurityGroups"} {
		var groups []any
		for id := range strings.SplitSeq(fmt.Sprint(attributes[from]), ",") {
			groups = append(groups, id)
		}
		out[to] = groups
	}
	for _, part := range []string{"masterInstanceGroup", "coreInstanceGroup", "masterInstanceFleet", "coreInstanceFleet"} {
		if g, set := in[part].(map[string]any); set {
			addInstances(t, out, g)
		}
	}
}

// addKerberos adds the realm and its passwords, which are secrets.
func addKerberos(out map[string]any, in resource.PropertyMap) {
	attributes, set := property.Plain(in)["kerberosAttributes"].(map[string]any)
	if !set {
		return
	}
	kerberos := map[string]any{}
	for from, to := range map[string]string{"realm": "Realm", "kdcAdminPassword": "KdcAdminPassword", "adDomainJoinUser": "ADDomainJoinUser",
		"adDomainJoinPassword": "ADDomainJoinPassword", "crossRealmTrustPrincipalPassword": "CrossRealmTrustPrincipalPassword"} {
		if v, set := attributes[from]; set {
			kerberos[to] = v
		}
	}
	out["KerberosAttributes"] = kerberos
}

// addInstances adds a group or fleet.
func addInstances(t *testing.T, out, g map[string]any) {
	t.Helper()
	name := fmt.Sprint(g["name"])
	for from, to := range map[string]string{"instanceType": "InstanceType", "instanceCount": "InstanceCount", "bidPrice": "BidPrice",
		"targetOnDemandCapacity": "TargetOnDemandCapacity", "targetSpotCapacity": "TargetSpotCapacity"} {
		if v, set := g[from]; set {
			out[name+"."+to] = v
		}
	}
	if text, set := g["autoscalingPolicy"]; set {
		var policy any
		require.NoError(t, json.Unmarshal([]byte(fmt.Sprint(text)), &policy))
		out[name+".AutoScalingPolicy"] = prune(policy)
	}
	types, _ := g["instanceTypeConfigs"].([]any)
	for i, e := range types {
		one, _ := e.(map[string]any)
		for from, to := range map[string]string{"instanceType": "InstanceType", "weightedCapacity": "WeightedCapacity", "bidPrice": "BidPrice",
			"bidPriceAsPercentageOfOnDemandPrice": "BidPriceAsPercentageOfOnDemandPrice"} {
			if v, set := one[from]; set && v != 0.0 { // the provider leaves a percentage of 0 out
				out[fmt.Sprintf("%s.%d.%s", name, i, to)] = v
			}
		}
	}
}
