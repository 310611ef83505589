package diff_test

import "github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

// volumeEdits returns edits of a cluster's volumes. The provider reads back what the
// program no longer has, so that it shows no difference.
func volumeEdits() map[string]edit {
	return map[string]edit{
		"volumes taken away": {
			typ: cluster, old: v{"coreInstanceGroup": v{"instanceType": "a", "ebsConfigs": []any{v{"size": 64.0}}}},
			new: v{"coreInstanceGroup": v{"instanceType": "a"}},
		},
		"volume size": {
			typ: cluster, old: v{"coreInstanceGroup": v{"ebsConfigs": []any{v{"size": 64.0}}}},
			new:  v{"coreInstanceGroup": v{"ebsConfigs": []any{v{"size": 32.0}}}},
			path: "coreInstanceGroup.ebsConfigs[0].size", kind: plugin.DiffUpdateReplace,
		},
		"one volume of two taken away": {
			typ: cluster, old: v{"coreInstanceGroup": v{"ebsConfigs": []any{v{"size": 64.0}, v{"size": 32.0}}}},
			new:  v{"coreInstanceGroup": v{"ebsConfigs": []any{v{"size": 64.0}}}},
			path: "coreInstanceGroup.ebsConfigs[1]", kind: plugin.DiffDeleteReplace,
		},
		"core group taken away": {typ: cluster, old: core(2, "m5.xlarge"), new: v{}},
		"volumes of a task group taken away": {
			typ: "aws:emr/instanceGroup:InstanceGroup", old: v{"ebsConfigs": []any{v{"size": 64.0}}}, new: v{},
		},
		"volumes of a task fleet's type taken away": {
			typ: "aws:emr/instanceFleet:InstanceFleet",
			old: v{"instanceTypeConfigs": []any{v{"instanceType": "a", "ebsConfigs": []any{v{"size": 64.0}}}}},
			new: v{"instanceTypeConfigs": []any{v{"instanceType": "a"}}},
		},
	}
}
