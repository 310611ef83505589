package network_test

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// offeringsWithout answers getInstanceTypeOfferings as EC2 does, in no order.
func offeringsWithout(unoffered map[string][]string) recorder.Function {
	return func(args resource.PropertyMap) resource.PropertyMap {
		filter := args["filters"].ArrayValue()[0].ObjectValue()
		if args["locationType"].StringValue() != "availability-zone" || filter["name"].StringValue() != "instance-type" {
			return nil
		}
		var types, zones []resource.PropertyValue
		for _, t := range filter["values"].ArrayValue() {
			for _, zone := range []string{"us-east-1f", "us-east-1a", "us-east-1d", "us-east-1b", "us-east-1c"} {
				if !slices.Contains(unoffered[zone], t.StringValue()) {
					types, zones = append(types, t), append(zones, resource.NewStringProperty(zone))
				}
			}
		}
		return resource.PropertyMap{"instanceTypes": resource.NewArrayProperty(types), "locations": resource.NewArrayProperty(zones)}
	}
}

// availableZones answers that some zones need opting in.
func availableZones(args resource.PropertyMap) resource.PropertyMap {
	names := []any{"us-east-1f", "us-east-1c", "us-east-1d"}
	if !args.HasValue("filters") {
		names = append(names, "us-east-1a", "us-east-1b")
	}
	return resource.NewPropertyMapFromMap(map[string]any{"names": names})
}

// zonesOf returns name and zone of each subnet.
func zonesOf(rec *recorder.Recording) []string {
	var out []string
	for _, s := range rec.OfType(subnetType) {
		out = append(out, s.Name+" "+s.Inputs["availabilityZone"].StringValue())
	}
	slices.Sort(out)
	return out
}

func chosenZones() *network.Args {
	a := validArgs()
	a.AvailabilityZones = nil
	return a
}

func TestZonesAreTheFirstThatOfferEveryType(t *testing.T) {
	for _, c := range []struct {
		name      string
		unoffered map[string][]string
		want      []string
	}{
		{"all offer all", nil, []string{"c", "d"}},
		{"the first lacks one", map[string][]string{"us-east-1c": {"r7g.large"}}, []string{"d", "f"}},
		{"the second lacks all", map[string][]string{"us-east-1d": {"r7g.large", "m5.xlarge"}}, []string{"c", "f"}},
		{"the last lacks another", map[string][]string{"us-east-1f": {"m5.xlarge"}}, []string{"c", "d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec, err := recorder.Run(program(chosenZones()), answers(c.unoffered)...)
			require.NoError(t, err)
			first, second := "us-east-1"+c.want[0], "us-east-1"+c.want[1]
			require.Equal(t, []string{"network-private-a " + first, "network-private-b " + second, "network-public-a " + first}, zonesOf(rec))
			require.Empty(t, rec.Defaults)
		})
	}
}

// Another offering or an edited type would choose other zones, and another zone
// replaces a subnet with everything in it.
func TestChosenZonesAreKeptAndNamedOnesFollowTheConfiguration(t *testing.T) {
	for _, s := range run(t, chosenZones()).OfType(subnetType) {
		require.Equal(t, []string{"availabilityZone"}, s.Ignored, s.Name)
	}
	rec := run(t, validArgs())
	require.Equal(t, []string{"network-private-a us-east-1a", "network-private-b us-east-1b", "network-public-a us-east-1a"}, zonesOf(rec))
	for _, s := range rec.OfType(subnetType) {
		require.Empty(t, s.Ignored, s.Name)
	}
}

// inSecond moves EMR's nodes to the second private subnet.
func inSecond(a *network.Args) *network.Args {
	a.TypesIn = map[int][]string{1: {"r7g.large"}}
	return a
}

func publicInExistingVPC() *network.Args {
	a := existingVPCArgs()
	a.PublicControl, a.PublicSubnetID = true, publicSubnet
	return a
}

// EC2 attaches the control node's volume in its own zone only.
func TestZoneOfTheControlNode(t *testing.T) {
	for want, args := range map[string]*network.Args{
		"us-east-1c": publicInExistingVPC(), "us-east-1d": existingVPCArgs(), "us-east-1a": validArgs(),
	} {
		require.Equal(t, want, run(t, args).OfType(witnessType)[0].Inputs["controlZone"].StringValue())
	}
}

func TestZoneThatLacksATypeIsRefused(t *testing.T) {
	for _, c := range []struct {
		name      string
		args      *network.Args
		unoffered map[string][]string
		want      []string // parts of the error; nil: none
	}{
		{"too few zones", chosenZones(), map[string][]string{"us-east-1c": {"m5.xlarge"}, "us-east-1f": {"r7g.large"}},
			[]string{`network.availabilityZones: ["us-east-1d"] must be two zones`, "(m5.xlarge, r7g.large)", "choose other types"}},
		{"first named zone", validArgs(), map[string][]string{"us-east-1a": {"r7g.large"}},
			[]string{`network.availabilityZones[0]: "us-east-1a" must be in a zone`, "us-east-1a does not offer r7g.large;", "choose types",
				"zones that offer all: us-east-1b, us-east-1c, us-east-1d, us-east-1f"}},
		{"second named zone, where nothing runs", validArgs(), map[string][]string{"us-east-1b": {"r7g.large"}}, nil},
		{"second named zone, where a cluster runs", inSecond(validArgs()), map[string][]string{"us-east-1b": {"r7g.large"}},
			[]string{`network.availabilityZones[1]: "us-east-1b" must be in a zone`, "us-east-1b does not offer r7g.large;"}},
		{"first named zone, which the cluster does not use", inSecond(validArgs()), map[string][]string{"us-east-1a": {"r7g.large"}}, nil},
		{"first existing subnet", existingVPCArgs(), map[string][]string{"us-east-1d": {"m5.xlarge", "r7g.large"}},
			[]string{`network.subnetIds[0]: "subnet-0123456789abcdef0" must be in a zone`, "us-east-1d does not offer m5.xlarge, r7g.large;",
				"name a subnet of another zone"}},
		{"second existing subnet", inSecond(existingVPCArgs()), map[string][]string{"us-east-1b": {"r7g.large"}},
			[]string{`network.subnetIds[1]: "subnet-0123456789abcdef1" must be in a zone`}},
		{"public subnet", publicInExistingVPC(), map[string][]string{"us-east-1c": {"m5.xlarge"}},
			[]string{`network.publicSubnetId: "subnet-0123456789abcdefa" must be in a zone`, "us-east-1c does not offer m5.xlarge;"}},
		{"private subnet of no control node", publicInExistingVPC(), map[string][]string{"us-east-1d": {"m5.xlarge"}}, nil},
		{"zone of no existing subnet", existingVPCArgs(), map[string][]string{"us-east-1a": {"m5.xlarge"}}, nil},
	} {
		for mode, options := range map[string][]recorder.Option{"up": nil, "preview": {recorder.WithPreview()}} {
			t.Run(c.name+" "+mode, func(t *testing.T) {
				_, err := recorder.Run(program(c.args), append(answers(c.unoffered), options...)...)
				if c.want == nil {
					require.NoError(t, err)
					return
				}
				for _, part := range c.want {
					require.ErrorContains(t, err, part)
				}
			})
		}
	}
}

// What is wrong with both zones comes in one error, each with its types once.
func TestEachNamedZoneIsReported(t *testing.T) {
	args := validArgs()
	args.AvailabilityZones = []string{"us-east-1a", "us-east-1z"}
	args.TypesIn, args.ControlType = map[int][]string{0: {"m5.xlarge", "m5.xlarge"}}, "m5.xlarge"
	rec, err := recorder.Run(program(args), answers(map[string][]string{"us-east-1a": {"m5.xlarge"}})...)
	require.ErrorContains(t, err, `network.availabilityZones[0]: "us-east-1a" must be in a zone that offers the instance types of `+
		"what runs there; us-east-1a does not offer m5.xlarge; choose types")
	require.ErrorContains(t, err,
		`network.availabilityZones[1]: "us-east-1z" must be a zone of us-east-1: the account has us-east-1a, us-east-1b, `)
	require.Empty(t, rec.OfType(subnetType), "registered before the violation was reported")
}
