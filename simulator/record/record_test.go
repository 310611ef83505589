package record_test

import (
	"reflect"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

const vpcID, subnetID = "vpc-0", "subnet-0"

// account returns an account with one VPC and one subnet.
func account() *record.Account {
	a := record.NewAccount("eu-central-1", "123456789012")
	a.Configure("", map[string]string{"team": "data"})
	for _, r := range (record.Network{VPC: vpcID, CIDR: "10.0.0.0/16", Private: []record.Subnet{
		{ID: subnetID, CIDR: "10.0.0.0/20", Zone: "eu-central-1b"},
	}}).Resources() {
		a.Add(r)
	}
	return a
}

// minimalValue returns a value of a type with only its required fields.
func minimalValue(name string, t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		return minimalValue(name, t.Elem())
	case reflect.String:
		switch name {
		case "subnetId":
			return subnetID
		case "configJson":
			return `{"uid":"u","title":"T"}`
		case "cidrBlock":
			return "10.0.16.0/20"
		}
		return "x-" + name
	case reflect.Bool:
		return true
	case reflect.Int, reflect.Float64:
		return 1.0
	case reflect.Slice:
		return []any{minimalValue(name, t.Elem())}
	case reflect.Map:
		return map[string]any{"k": minimalValue(name, t.Elem())}
	case reflect.Struct:
		out := map[string]any{}
		for field, ft := range catalog.Fields(t) {
			if ft.Kind() != reflect.Pointer && ft.Kind() != reflect.Slice && ft.Kind() != reflect.Map && ft.Kind() != reflect.Interface {
				out[field] = minimalValue(field, ft)
			}
		}
		return out
	default:
		return "x-" + name
	}
}

// minimalInputs returns the required inputs of a type, and its names.
func minimalInputs(typ catalog.Type) resource.PropertyMap {
	in := minimalValue("", typ.Args).(map[string]any)
	fields := catalog.Fields(typ.Args)
	for _, key := range typ.Required {
		in[key] = minimalValue(key, fields[key])
	}
	for _, key := range []string{
		"name", "bucket", "subnetId", "dashboardName", "uid", "key", "keyName",
	} { // set by Check or by the program
		if f, ok := fields[key]; ok && f.Kind() == reflect.Pointer {
			in[key] = minimalValue(key, f)
		}
	}
	if f, ok := fields["ec2Attributes"]; ok {
		in["ec2Attributes"] = map[string]any{"subnetId": subnetID, "instanceProfile": minimalValue("", f.Elem().Field(0).Type)}
	}
	delete(in, "")
	return resource.NewPropertyMapFromMap(in)
}

// optional lists outputs that are set only if the program uses a feature.
var optional = map[string]bool{
	"namePrefix": true, "ipv6CidrBlock": true,
}

func TestSDKCanDecodeOutputs(t *testing.T) {
	for _, pkg := range []string{"aws", "grafana"} {
		for token, typ := range catalog.Packages()[pkg].Resources {
			t.Run(token, func(t *testing.T) {
				r := record.Resource{URN: "urn:pulumi:t::p::" + token + "::it", Type: token, Name: "it", Inputs: minimalInputs(typ)}
				a := account()
				id, outputs, err := a.Outputs(r)
				require.NoError(t, err)
				require.NotEmpty(t, id)
				for _, f := range catalog.CheckShape(typ.State, outputs) {
					require.Equal(t, property.Missing, f.Rule, f.String())
				}
				for key, v := range r.Inputs {
					require.Equal(t, v, outputs[key], "an input must be returned unchanged")
				}
				requireFilled(t, typ, outputs)

				again, updated, err := a.Outputs(record.Resource{
					URN: r.URN, Type: token, Name: "it", ID: id, Inputs: r.Inputs, Outputs: outputs,
				})
				require.NoError(t, err)
				require.Equal(t, id, again, "an update keeps the id")
				for _, key := range []string{"arn", "privateIp", "masterPublicDns", "keyId", "uniqueId"} {
					require.Equal(t, outputs[resource.PropertyKey(key)], updated[resource.PropertyKey(key)], key)
				}
			})
		}
	}
}

// requireFilled fails on string outputs that a program would read as empty.
func requireFilled(t *testing.T, typ catalog.Type, outputs resource.PropertyMap) {
	t.Helper()
	args := catalog.Fields(typ.Args)
	for key, f := range catalog.Fields(typ.State) {
		_, input := args[key]
		if input || f.Kind() != reflect.Pointer || f.Elem().Kind() != reflect.String || optional[key] {
			continue
		}
		if _, ok := outputs[resource.PropertyKey(key)]; !ok {
			t.Errorf("output %s is not filled", key)
		}
	}
}

func TestARNsContainAccountAndRegion(t *testing.T) {
	_, out, err := account().Outputs(record.Resource{Type: "aws:kms/key:Key", Inputs: resource.PropertyMap{}})
	require.NoError(t, err)
	require.Regexp(
		t, `^arn:aws:kms:eu-central-1:123456789012:key/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
		out["arn"].StringValue(),
	)
	id, out, err := account().Outputs(record.Resource{
		Type: "aws:emr/cluster:Cluster",
		Inputs: resource.NewPropertyMapFromMap(map[string]any{
			"ec2Attributes": map[string]any{"subnetId": subnetID}, "tags": map[string]any{"a": "b"},
		}),
	})
	require.NoError(t, err)
	require.Regexp(t, `^j-[0-9A-Z]{13}$`, id)
	require.Equal(t, "arn:aws:elasticmapreduce:eu-central-1:123456789012:cluster/"+id, out["arn"].StringValue())
	require.Regexp(t, `^ip-10-0-\d+-\d+\.eu-central-1\.compute\.internal$`, out["masterPublicDns"].StringValue())
	require.Equal(t, map[string]any{"a": "b", "team": "data"}, property.Plain(out)["tagsAll"])
}

func TestFunctionResultsMatchTheirTypes(t *testing.T) {
	args := map[string]map[string]any{
		"aws:ec2/getSubnet:getSubnet":         {"id": subnetID},
		"aws:ec2/getRouteTable:getRouteTable": {"subnetId": subnetID},
		"aws:ssm/getParameter:getParameter":   {"name": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"},
		"aws:ec2/getVpc:getVpc":               {"id": vpcID},
	}
	args["aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings"] = offeringsArgs("m5.xlarge")
	for token, f := range catalog.Packages()["aws"].Functions {
		out, err := account().Call(token, resource.NewPropertyMapFromMap(args[token]))
		require.NoError(t, err, token)
		for _, v := range catalog.CheckShape(f.Result, out) {
			require.Equal(t, property.Missing, v.Rule, token+" "+v.String())
		}
	}
	_, err := account().Call("aws:ec2/getAmi:getAmi", nil)
	require.ErrorContains(t, err, "the simulator has no answer")
}

// offeringsArgs are the arguments of getInstanceTypeOfferings for zones.
func offeringsArgs(types ...any) map[string]any {
	return map[string]any{
		"locationType": "availability-zone", "filters": []any{map[string]any{"name": "instance-type", "values": types}},
	}
}

func TestOfferingsOfZones(t *testing.T) {
	const token = "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings"
	a := account()
	a.Unoffered = map[string][]string{"eu-central-1a": {"m7g.xlarge"}}
	out, err := a.Call(token, resource.NewPropertyMapFromMap(offeringsArgs("m5.xlarge", "m7g.xlarge")))
	require.NoError(t, err)
	offered := map[string][]string{}
	for i, zone := range out["locations"].ArrayValue() {
		offered[zone.StringValue()] = append(offered[zone.StringValue()], out["instanceTypes"].ArrayValue()[i].StringValue())
	}
	require.Equal(t, map[string][]string{
		"eu-central-1a": {"m5.xlarge"}, "eu-central-1b": {"m5.xlarge", "m7g.xlarge"}, "eu-central-1c": {"m5.xlarge", "m7g.xlarge"},
	}, offered)
	_, err = a.Call(token, resource.PropertyMap{})
	require.ErrorContains(t, err, "name the instance types")
}

// EC2 and EMR refuse an instance in a zone that does not offer its type.
func TestInstancesStartOnlyWhereTheirTypeIsOffered(t *testing.T) {
	group := func(t string) map[string]any { return map[string]any{"instanceType": t} }
	for name, r := range map[string]struct {
		typ    string
		inputs map[string]any
	}{
		"instance": {"aws:ec2/instance:Instance", map[string]any{"subnetId": subnetID, "instanceType": "m7g.xlarge"}},
		"instance on an interface": {"aws:ec2/instance:Instance", map[string]any{"instanceType": "m7g.xlarge",
			"networkInterfaces": []any{map[string]any{"networkInterfaceId": "eni-0", "deviceIndex": 0.0}}}},
		"cluster": {"aws:emr/cluster:Cluster", map[string]any{"ec2Attributes": map[string]any{"subnetId": subnetID},
			"masterInstanceGroup": group("m5.xlarge"), "coreInstanceGroup": group("m7g.xlarge")}},
	} {
		t.Run(name, func(t *testing.T) {
			for zone, refused := range map[string]bool{"eu-central-1a": false, "eu-central-1b": true} {
				a := account()
				a.Add(record.Resource{URN: "i", Type: "aws:ec2/networkInterface:NetworkInterface", ID: "eni-0",
					Outputs: resource.NewPropertyMapFromMap(map[string]any{"subnetId": subnetID, "privateIp": "10.0.0.9"})})
				a.Unoffered = map[string][]string{zone: {"m7g.xlarge"}}
				_, _, err := a.Outputs(record.Resource{URN: "u", Type: r.typ, Inputs: resource.NewPropertyMapFromMap(r.inputs)})
				if refused {
					require.ErrorContains(t, err, "(m7g.xlarge) is not supported in the requested Availability Zone (eu-central-1b)")
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
}
