package diff_test

import (
	"maps"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/diff"
)

type v = map[string]any

// actions returns the inputs of a cluster with one bootstrap action.
func actions(path, arg string) v {
	return v{"bootstrapActions": []any{v{"name": "n", "path": path, "args": []any{arg}}}}
}

// core returns the inputs of a cluster with a core group.
func core(count float64, typ string) v {
	return v{"coreInstanceGroup": v{"instanceCount": count, "instanceType": typ}}
}

// objectNamed returns an object with a name and more fields.
func objectNamed(name string, more v) v {
	out := v{"metadata": v{"name": name}}
	for k, e := range more {
		out[k] = e
	}
	return out
}

// edit is a change of inputs with its expected classification.
type edit struct {
	typ         string
	old, new    v
	settings    diff.Settings
	path        string // "" = no change
	kind        plugin.DiffKind
	deleteFirst bool
}

const cluster = "aws:emr/cluster:Cluster"

// emrEdits returns edits of clusters and what belongs to them.
func emrEdits() map[string]edit {
	return map[string]edit{
		"nothing": {typ: cluster, old: core(2, "m5.xlarge"), new: core(2, "m5.xlarge")},
		"core count": {
			typ: cluster, old: core(2, "m5.xlarge"), new: core(3, "m5.xlarge"), path: "coreInstanceGroup.instanceCount",
			kind: plugin.DiffUpdate,
		},
		"core type": {
			typ: cluster, old: core(2, "m5.xlarge"), new: core(2, "m6i.xlarge"), path: "coreInstanceGroup.instanceType",
			kind: plugin.DiffUpdateReplace,
		},
		"release": {
			typ: cluster, old: v{"releaseLabel": "emr-7.9.0"}, new: v{"releaseLabel": "emr-7.10.0"}, path: "releaseLabel",
			kind: plugin.DiffUpdateReplace,
		},
		"idle timeout": {
			typ: cluster, old: v{}, new: v{"autoTerminationPolicy": v{"idleTimeout": 60.0}}, path: "autoTerminationPolicy",
			kind: plugin.DiffAdd,
		},
		"protection": {
			typ: cluster, old: v{"terminationProtection": true}, new: v{"terminationProtection": false}, path: "terminationProtection",
			kind: plugin.DiffUpdate,
		},
		"steps added":     {typ: cluster, old: v{}, new: v{"steps": []any{}}, path: "steps", kind: plugin.DiffAddReplace},
		"log uri removed": {typ: cluster, old: v{"logUri": "s3://b/"}, new: v{}, path: "logUri", kind: plugin.DiffDeleteReplace},
		"bootstrap path alone": {
			typ: cluster, old: actions("s3://a", "1"), new: actions("s3://b", "1"), path: "bootstrapActions[0].path",
			kind: plugin.DiffUpdate,
		},
		"bootstrap args": {
			typ: cluster, old: actions("s3://a", "1"), new: actions("s3://a", "2"), path: "bootstrapActions[0].args[0]",
			kind: plugin.DiffUpdateReplace,
		},
		"bootstrap removed": {
			typ: cluster, old: actions("s3://a", "1"), new: v{"bootstrapActions": []any{}}, path: "bootstrapActions[0]",
			kind: plugin.DiffDeleteReplace,
		},
		"task count": {
			typ: "aws:emr/instanceGroup:InstanceGroup", old: v{"instanceCount": 1.0}, new: v{"instanceCount": 2.0},
			path: "instanceCount", kind: plugin.DiffUpdate,
		},
		"task type": {
			typ: "aws:emr/instanceGroup:InstanceGroup", old: v{"instanceType": "a"}, new: v{"instanceType": "b"}, path: "instanceType",
			kind: plugin.DiffUpdateReplace,
		},
		"security configuration": {
			typ: "aws:emr/securityConfiguration:SecurityConfiguration", old: v{"configuration": "a"}, new: v{"configuration": "b"},
			path: "configuration", kind: plugin.DiffUpdateReplace,
		},
		"managed scaling": {
			typ: "aws:emr/managedScalingPolicy:ManagedScalingPolicy", old: v{"computeLimits": []any{v{"unitType": "a"}}},
			new: v{"computeLimits": []any{v{"unitType": "b"}}}, path: "computeLimits[0].unitType", kind: plugin.DiffUpdateReplace,
		},
	}
}

// networkEdits returns edits of VPCs and what is in them.
func networkEdits() map[string]edit {
	return map[string]edit{
		"vpc network": {
			typ: "aws:ec2/vpc:Vpc", old: v{"cidrBlock": "a"}, new: v{"cidrBlock": "b"}, path: "cidrBlock",
			kind: plugin.DiffUpdateReplace,
		},
		"vpc dns": {
			typ: "aws:ec2/vpc:Vpc", old: v{"enableDnsHostnames": false}, new: v{"enableDnsHostnames": true}, path: "enableDnsHostnames",
			kind: plugin.DiffUpdate,
		},
		"subnet zone": {
			typ: "aws:ec2/subnet:Subnet", old: v{"availabilityZone": "a"}, new: v{"availabilityZone": "b"}, path: "availabilityZone",
			kind: plugin.DiffUpdateReplace,
		},
		"group description": {
			typ: "aws:ec2/securityGroup:SecurityGroup", old: v{"description": "a"}, new: v{"description": "b"}, path: "description",
			kind: plugin.DiffUpdateReplace,
		},
		"rule port": {
			typ: "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", old: v{"fromPort": 1.0}, new: v{"fromPort": 2.0},
			path: "fromPort", kind: plugin.DiffUpdate,
		},
		"interface address": {
			typ: "aws:ec2/networkInterface:NetworkInterface", old: v{"privateIps": []any{"a"}}, new: v{"privateIps": []any{"b"}},
			path: "privateIps[0]", kind: plugin.DiffUpdateReplace,
		},
		"interface groups": {
			typ: "aws:ec2/networkInterface:NetworkInterface", old: v{"securityGroups": []any{"a"}},
			new: v{"securityGroups": []any{"b"}}, path: "securityGroups[0]", kind: plugin.DiffUpdate,
		},
	}
}

// instanceEdits returns edits of instances, volumes, buckets and keys.
func instanceEdits() map[string]edit {
	return map[string]edit{
		"instance image": {
			typ: "aws:ec2/instance:Instance", old: v{"ami": "a"}, new: v{"ami": "b"}, path: "ami", kind: plugin.DiffUpdateReplace,
		},
		"instance type": {
			typ: "aws:ec2/instance:Instance", old: v{"instanceType": "a"}, new: v{"instanceType": "b"}, path: "instanceType",
			kind: plugin.DiffUpdate,
		},
		"user data reboots": {
			typ: "aws:ec2/instance:Instance", old: v{"userData": "a"}, new: v{"userData": "b"}, path: "userData",
			kind: plugin.DiffUpdate,
		},
		"user data replaces": {
			typ: "aws:ec2/instance:Instance", old: v{"userData": "a", "userDataReplaceOnChange": true},
			new: v{"userData": "b", "userDataReplaceOnChange": true}, path: "userData", kind: plugin.DiffUpdateReplace,
		},
		"volume size": {
			typ: "aws:ebs/volume:Volume", old: v{"size": 1.0}, new: v{"size": 2.0}, path: "size", kind: plugin.DiffUpdate,
		},
		"volume key": {
			typ: "aws:ebs/volume:Volume", old: v{"kmsKeyId": "a"}, new: v{"kmsKeyId": "b"}, path: "kmsKeyId",
			kind: plugin.DiffUpdateReplace,
		},
		"volume attachment": {
			typ: "aws:ec2/volumeAttachment:VolumeAttachment", old: v{"instanceId": "a"}, new: v{"instanceId": "b"}, path: "instanceId",
			kind: plugin.DiffUpdateReplace, deleteFirst: true,
		},
		"bucket name": {
			typ: "aws:s3/bucketV2:BucketV2", old: v{"bucket": "a"}, new: v{"bucket": "b"}, path: "bucket",
			kind: plugin.DiffUpdateReplace,
		},
		"object key": {
			typ: "aws:s3/bucketObjectv2:BucketObjectv2", old: v{"key": "a"}, new: v{"key": "b"}, path: "key",
			kind: plugin.DiffUpdateReplace,
		},
		"key policy": {
			typ: "aws:kms/key:Key", old: v{"policy": "a"}, new: v{"policy": "b"}, path: "policy", kind: plugin.DiffUpdate,
		},
	}
}

// otherEdits returns edits of Kubernetes objects and of the small packages.
func otherEdits() map[string]edit {
	return map[string]edit{
		"configMap data, mutable": {
			typ: "kubernetes:core/v1:ConfigMap", settings: diff.Settings{MutableConfigMaps: true},
			old: objectNamed("a", v{"data": v{"k": "1"}}), new: objectNamed("a", v{"data": v{"k": "2"}}), path: "data.k", kind: plugin.DiffUpdate,
		},
		"configMap data, immutable": {
			typ: "kubernetes:core/v1:ConfigMap", old: objectNamed("a", v{"data": v{"k": "1"}}), new: objectNamed("a", v{"data": v{"k": "2"}}),
			path: "data.k", kind: plugin.DiffUpdateReplace, deleteFirst: true,
		},
		"deployment image": {
			typ: "kubernetes:apps/v1:Deployment", old: objectNamed("a", v{"spec": v{"replicas": 1.0}}),
			new: objectNamed("a", v{"spec": v{"replicas": 2.0}}), path: "spec.replicas", kind: plugin.DiffUpdate,
		},
		"deployment selector": {
			typ: "kubernetes:apps/v1:Deployment", old: objectNamed("a", v{"spec": v{"selector": v{"matchLabels": v{"a": "b"}}}}),
			new: objectNamed("a", v{"spec": v{"selector": v{"matchLabels": v{"a": "c"}}}}), path: "spec.selector.matchLabels.a",
			kind: plugin.DiffUpdateReplace, deleteFirst: true,
		},
		"object name, generated": {
			typ: "kubernetes:core/v1:Namespace", old: v{"metadata": v{"name": "a", "annotations": v{"pulumi.com/autonamed": "true"}}},
			new: v{"metadata": v{"name": "b", "annotations": v{"pulumi.com/autonamed": "true"}}}, path: "metadata.name",
			kind: plugin.DiffUpdateReplace,
		},
		"certificate": {
			typ: "tls:index/selfSignedCert:SelfSignedCert", old: v{"validityPeriodHours": 1.0}, new: v{"validityPeriodHours": 2.0},
			path: "validityPeriodHours", kind: plugin.DiffUpdateReplace,
		},
		"command triggers": {
			typ: "command:local:Command", old: v{"triggers": []any{"a"}}, new: v{"triggers": []any{"b"}}, path: "triggers[0]",
			kind: plugin.DiffUpdateReplace,
		},
		"command line": {
			typ: "command:local:Command", old: v{"create": "a"}, new: v{"create": "b"}, path: "create", kind: plugin.DiffUpdate,
		},
		"dashboard": {
			typ: "grafana:oss/dashboard:Dashboard", old: v{"configJson": "a"}, new: v{"configJson": "b"}, path: "configJson",
			kind: plugin.DiffUpdate,
		},
		"datasource uid": {
			typ: "grafana:oss/dataSource:DataSource", old: v{"uid": "a"}, new: v{"uid": "b"}, path: "uid",
			kind: plugin.DiffUpdateReplace,
		},
	}
}

func TestEditsAreClassified(t *testing.T) {
	cases := emrEdits()
	maps.Copy(cases, volumeEdits())
	maps.Copy(cases, networkEdits())
	maps.Copy(cases, instanceEdits())
	maps.Copy(cases, otherEdits())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old := resource.NewPropertyMapFromMap(tc.old)
			got := diff.Compute(tc.typ, tc.settings, old, old, resource.NewPropertyMapFromMap(tc.new))
			if tc.path == "" {
				require.Equal(t, plugin.DiffNone, got.Changes)
				require.Empty(t, got.DetailedDiff)
				return
			}
			require.Equal(t, map[string]plugin.PropertyDiff{tc.path: {Kind: tc.kind, InputDiff: true}}, got.DetailedDiff)
			require.Equal(t, tc.kind.IsReplace(), len(got.ReplaceKeys) > 0)
			require.Equal(t, tc.deleteFirst, got.DeleteBeforeReplace)
		})
	}
}

func TestMarkingAValueSecretIsNoChange(t *testing.T) {
	plain := resource.PropertyMap{"value": resource.NewStringProperty("x")}
	secret := resource.PropertyMap{"value": resource.MakeSecret(resource.NewStringProperty("x"))}
	require.Equal(t, plugin.DiffNone, diff.Compute("aws:ssm/parameter:Parameter", diff.Settings{}, plain, plain, secret).Changes)
}

func TestUnknownValueOfReplacingFieldReplaces(t *testing.T) {
	old := resource.NewPropertyMapFromMap(v{"subnetId": "subnet-1"})
	unknown := resource.PropertyMap{"subnetId": resource.MakeComputed(resource.NewStringProperty(""))}
	require.True(t, diff.Compute("aws:ec2/networkInterface:NetworkInterface", diff.Settings{}, old, old, unknown).Replace())
}

// A pattern that names no field would never match.
func TestPatternsNameExistingFields(t *testing.T) {
	packages := catalog.Packages()
	patterns := diff.Patterns()
	require.NotEmpty(t, patterns)
	for typ, list := range patterns {
		var known catalog.Type
		for _, p := range packages {
			if k, ok := p.Resources[typ]; ok {
				known = k
			}
		}
		require.NotNil(t, known.Args, typ)
		for _, pattern := range list {
			if pattern[0] == "tagsAll" {
				continue // an output that the default tags change
			}
			require.Contains(t, catalog.Fields(known.Args), pattern[0], "%s %v", typ, pattern)
		}
	}
}
