package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Zones are the region's zones.
func (a *Account) Zones() []string {
	region := a.Region()
	return []string{region + "a", region + "b", region + "c"}
}

func availabilityZones(a *Account, _ map[string]any) (result, error) {
	var names, ids []any
	for _, zone := range a.Zones() {
		names = append(names, zone)
		ids = append(ids, zoneID(zone))
	}
	return result{"id": a.Region(), "names": names, "zoneIds": ids, "groupNames": []any{a.Region()}}, nil
}

// instanceTypeOfferings answers for the instance types in the filters; without them
// it would have to know all that EC2 has. Like EC2 it promises no order.
func instanceTypeOfferings(a *Account, in map[string]any) (result, error) {
	types := filterValues(in, "instance-type")
	if len(types) == 0 {
		return nil, errors.New("name the instance types in a filter instance-type; the simulator does not know all of them")
	}
	kind, _ := in["locationType"].(string)
	kind = cmp.Or(kind, "region")
	locations := a.Zones()
	switch kind {
	case "region":
		locations = []string{a.Region()}
	case "availability-zone":
		slices.Reverse(locations)
	default:
		return nil, fmt.Errorf("locationType %q: the simulator knows region and availability-zone", kind)
	}
	var offered, at, kinds []any
	for _, location := range locations {
		for _, t := range types {
			if a.offers(location, t) {
				offered, at, kinds = append(offered, t), append(at, location), append(kinds, kind)
			}
		}
	}
	return result{"id": a.Region(), "instanceTypes": offered, "locations": at, "locationTypes": kinds, "locationType": kind}, nil
}

// filterValues returns the values of a filter by its name.
func filterValues(in map[string]any, name string) []string {
	var out []string
	filters, _ := in["filters"].([]any)
	for _, e := range filters {
		f, _ := e.(map[string]any)
		if f["name"] != name {
			continue
		}
		values, _ := f["values"].([]any)
		for _, v := range values {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// offers reports whether EC2 offers an instance type in a zone.
func (a *Account) offers(zone, instanceType string) bool {
	return !slices.Contains(a.Unoffered[zone], instanceType)
}

// checkOffered returns EC2's error for an instance in a zone that does not offer its
// type. An unknown zone offers all.
func (a *Account) checkOffered(zone string, instanceTypes ...string) error {
	for _, t := range instanceTypes {
		if a.offers(zone, t) {
			continue
		}
		others := slices.DeleteFunc(a.Zones(), func(z string) bool { return !a.offers(z, t) })
		return fmt.Errorf("the requested instance type (%s) is not supported in the requested Availability Zone (%s); choose %s",
			t, zone, strings.Join(others, ", "))
	}
	return nil
}
