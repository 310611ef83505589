package schema_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// generator creates random configurations from the schema's rules. It prefers the
// bounds of a rule, but can create any value that the rule allows.
type generator struct {
	*rand.Rand
	t         testing.TB
	authority string // a CA's certificate, PEM
}

// config returns a valid configuration, and how many candidates were invalid.
func (g generator) config() (c schema.Config, rejected int) {
	for {
		if c = g.candidate(); c.Validate() == nil {
			return c, rejected
		}
		rejected++
	}
}

// candidate returns a configuration that may violate rules about several fields.
func (g generator) candidate() schema.Config {
	c := schema.Defaults()
	g.fill(&c)
	if g.IntN(2) == 0 {
		c.Region = g.oneOf("us-east-1", "eu-central-1", "us-gov-west-1", "cn-north-1", "ap-southeast-4")
	}
	c.Tags = g.tags()
	g.network(&c)
	c.ControlNode.Arch = schema.Arch(c.ControlNode.InstanceType)
	g.access(&c)
	g.clusters(&c)
	g.tracing(&c.Tracing)
	g.consistent(&c)
	return c
}

// fill sets the fields of a section that have a rule. The section's own method sets
// the others.
func (g generator) fill(section any) {
	v := reflect.ValueOf(section).Elem()
	for i := range v.NumField() {
		field, sf := v.Field(i), v.Type().Field(i)
		r, ruled := schema.RuleNamed(sf.Tag.Get("rule"))
		switch {
		case field.Kind() == reflect.Struct:
			g.fill(field.Addr().Interface())
		case field.Kind() == reflect.Bool:
			field.SetBool(g.IntN(2) == 0)
		case !ruled:
		case field.Kind() == reflect.Float64:
			field.SetFloat([]float64{0, 1, 0.25, g.Float64()}[g.IntN(4)])
		case field.Kind() == reflect.Int && r.Max > 0:
			field.SetInt(int64(g.between(r.Min, r.Max)))
		case field.Kind() == reflect.String:
			field.SetString(g.text(sf.Tag.Get("rule"), r))
		case field.Type() == reflect.TypeFor[[]string]():
			field.Set(reflect.ValueOf(g.list(sf.Tag.Get("rule"), r)))
		}
	}
}

// text returns a valid string for a rule.
func (g generator) text(name string, r schema.Rule) string {
	switch {
	case r.Optional && g.IntN(3) == 0:
		return ""
	case len(r.Values) > 0:
		return g.oneOf(r.Values...)
	case r.Pattern != nil:
		return g.untilValid(r, func() string { return randomMatch(g.Rand, r.Pattern) })
	}
	candidates := map[string]func() string{
		"vpcCidr": func() string { return g.prefix(g.oneOf("10.0.0.0", "172.16.0.0", "192.168.0.0"), 12, 28) },
		"operatorCidr": func() string {
			return g.prefix(g.oneOf("203.0.113.0", "10.0.0.0", "0.0.0.0", "255.0.0.0", "2001:db8::", "::", "ff02::1"), 0, 128)
		},
		"realmServer": func() string {
			return g.oneOf("kdc.ad.example.com", "10.0.0.8", "kdc") + g.oneOf("", ":88", ":749")
		},
		"realmDomain":       func() string { return g.oneOf("ad.example.com", "corp") },
		"passwordParameter": func() string { return "" }, // security sets them
		"dnsServer":         func() string { return g.oneOf("10.0.0.2", "8.8.8.8", "192.168.7.9", "10.44.0.1", "127.0.0.1") },
		"iamPath":           func() string { return g.oneOf("/team/", "/a/b.c/d_e/", "/x=1/", "/"+strings.Repeat("a", 510)+"/") },
		"registryHost": func() string {
			return g.oneOf("mirror.example.com", "registry.mirror.example.com", "10.0.0.9") + g.oneOf("", ":8443", ":65535")
		},
		"k3sUrl": func() string {
			return "https://" + g.oneOf("mirror.example.com", "10.0.0.9:8443") + g.oneOf("", "/k3s", "/a/b")
		},
		"pluginUrl": func() string { return "https://mirror.example.com/" + g.oneOf("plugin.zip", "a/b/plugin.zip") },
		"privateIp": func() string { return g.addressIn("10.0.0.0/8") },
		"service": func() string {
			return g.oneOf("ssm", "kms", "ec2", "elasticmapreduce", "ecr.api", "s3express", "a-1.b-2.c")
		},
		"tunnelEnd": func() string {
			return g.oneOf("https://127.0.0.1:6443", "https://localhost:1", "https://127.0.0.1:65535")
		},
		"price":        func() string { return fmt.Sprintf("%d.%0*d", g.between(0, 999), g.between(1, 5), g.IntN(10)) },
		"groupPrice":   func() string { return fmt.Sprintf("0.%d", g.between(1, 9)) }, // presets have onDemand
		"preset":       func() string { return "" },                                   // each has a test of its own
		"budgetAction": func() string { return "warn" },
		"timezone":     func() string { return g.oneOf("UTC", "Asia/Tokyo") }, "scheduleTime": func() string { return "" },
		"traceEndpoint": func() string { return "" }, "caCertificates": func() string { return "" }, // tracing sets them
		"origin": func() string {
			return g.oneOf("http://", "https://") + g.oneOf("s3.example.org", "10.0.0.2", "[2001:db8::1]") + g.oneOf("", ":7070")
		},
	}
	candidate, ok := candidates[name]
	if !ok {
		g.t.Fatalf("no generator for rule %q: add one", name)
	}
	return g.untilValid(r, candidate)
}

// untilValid returns the first candidate that the rule accepts. Rules without a
// predicate are left to Validate.
func (g generator) untilValid(r schema.Rule, candidate func() string) string {
	for range 1000 {
		if s := candidate(); r.Holds == nil || r.Holds(s) {
			return s
		}
	}
	g.t.Fatalf("1000 candidates, none of which %s", r.Text)
	return ""
}

// list returns up to three different valid strings for a rule.
func (g generator) list(name string, r schema.Rule) []string {
	out := []string{}
	if name == "zones" {
		return out // network sets them, because they depend on the region
	}
	for range g.IntN(4) {
		if s := g.text(name, r); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// tags returns up to eight tags whose keys and values reach their maximum length.
func (g generator) tags() map[string]string {
	const letters = "aZ09 _.:/=+-@éж語"
	word := func(longest int) string {
		length := g.oneOf("1", "5", "all")
		n := map[string]int{"1": 1, "5": 5, "all": longest}[length]
		var b strings.Builder
		for range n {
			b.WriteRune([]rune(letters)[g.IntN(len([]rune(letters)))])
		}
		return b.String()
	}
	out := map[string]string{}
	for range g.IntN(9) {
		out[word(128)] = word(256)
	}
	return out
}

// network makes the fields of the network section consistent with each other, and the budget
// with the region.
func (g generator) network(c *schema.Config) {
	c.Budget.MonthlyUSD = 0 // most regions have no price list, without which there is no budget
	n := &c.Network
	if n.VPCID != "" && len(n.SubnetIDs) > 0 {
		n.InterfaceEndpoints = []string{}
		return
	}
	n.VPCID, n.SubnetIDs, n.DNSServers = "", []string{}, []string{}
	n.NAT = true
	if g.IntN(2) == 0 {
		first := g.IntN(25)
		n.AvailabilityZones = []string{c.Region + string(rune('a'+first)), c.Region + string(rune('b'+first))}
	}
}

// access makes the ways to the control node consistent with what they need.
func (g generator) access(c *schema.Config) {
	node := &c.ControlNode
	subnets := schema.SubnetsOf(netip.MustParsePrefix(c.Network.CIDR))
	node.PrivateIP = g.addressIn(subnets.Private[0].String())
	public := c.Network.PublicSubnetID
	node.APIURL, c.Network.PublicSubnetID = "", ""
	switch node.Access {
	case schema.AccessPublic:
		node.PrivateIP, c.Grafana.URL = g.addressIn(subnets.Public.String()), ""
		c.OperatorCIDRs = []string{g.oneOf("203.0.113.0/24", "8.0.0.0/8", "52.94.76.9/32")}
		if c.Network.VPCID != "" {
			c.Network.PublicSubnetID = public
		}
	case schema.AccessTunnel:
		node.APIURL, c.Grafana.URL = "https://localhost:6443", "https://127.0.0.1:3000"
	}
}

// tracing makes the second destination of traces consistent with its protocol.
func (g generator) tracing(tracing *schema.Tracing) {
	if g.IntN(2) == 0 {
		tracing.Protocol, tracing.HeadersParameter, tracing.ServiceName = schema.ProtocolGRPC, "", ""
		return
	}
	tracing.Enabled = true
	port := g.oneOf(":1", ":443", ":4317", ":65535")
	host := g.oneOf("otlp.example.com", "jaeger", "10.0.0.2", "203.0.113.7")
	tracing.Endpoint = host + port
	if tracing.Protocol == schema.ProtocolHTTP {
		tracing.Endpoint = "https://" + host + g.oneOf("", port) + g.oneOf("", "/", "/api/otlp")
	}
	if g.IntN(2) == 0 {
		tracing.CACertificate = g.authority
	}
}

// clusters sets up to three clusters, each with fields that are consistent with each
// other.
func (g generator) clusters(c *schema.Config) {
	c.Clusters = map[string]schema.Cluster{}
	for _, key := range []string{"etl", "a", "ml-2"}[:g.IntN(4)] {
		c.Clusters[key] = g.cluster(c)
	}
	if len(c.Architectures) == 0 {
		c.Architectures = []string{g.oneOf(platform.Architectures()...)}
	}
	for _, group := range c.InstanceGroups() {
		if arch := schema.Arch(group.InstanceType); !slices.Contains(c.Architectures, arch) {
			c.Architectures = append(c.Architectures, arch)
		}
	}
}

// volumes returns volumes within the limits of their types. Volumes of task groups
// have no throughput.
func (g generator) volumes(task bool) []schema.Volume {
	perInstance, _ := schema.RuleNamed("perInstance")
	left := perInstance.Max
	out := []schema.Volume{}
	for range g.IntN(4) {
		k := schema.VolumeKinds()[g.IntN(len(schema.VolumeKinds()))]
		v := schema.Volume{Type: k.Type, SizeGiB: g.between(k.MinGiB, k.MaxGiB)}
		if most := min(k.MaxIOPS, v.SizeGiB*k.IOPSPerGiB); most >= k.MinIOPS && most > 0 && (k.NeedsIOPS || g.IntN(2) == 0) {
			v.IOPS = g.between(k.MinIOPS, most)
		}
		if k.MaxThroughput > 0 && !task && g.IntN(2) == 0 {
			v.Throughput = g.between(k.MinThroughput, k.MaxThroughput)
		}
		if left < perInstance.Min {
			break
		}
		v.PerInstance = g.between(perInstance.Min, left)
		left -= v.PerInstance
		out = append(out, v)
	}
	return out
}

// between returns a number from low to high, in half of the cases one of the two.
func (g generator) between(low, high int) int {
	switch g.IntN(4) {
	case 0:
		return low
	case 1:
		return high
	default:
		return low + g.IntN(high-low+1)
	}
}

func (g generator) oneOf(values ...string) string { return values[g.IntN(len(values))] }

// prefix returns the network of an address with low to high prefix bits.
func (g generator) prefix(address string, low, high int) string {
	a := netip.MustParseAddr(address)
	return netip.PrefixFrom(a, min(g.between(low, high), a.BitLen())).Masked().String()
}

// addressIn returns an address in an IPv4 network, or "".
func (g generator) addressIn(network string) string {
	p, err := netip.ParsePrefix(network)
	if err != nil || g.IntN(2) == 0 {
		return ""
	}
	bytes := p.Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		if g.IntN(2) == 0 {
			bytes[bit/8] |= 1 << (7 - bit%8)
		}
	}
	address := netip.AddrFrom4(bytes)
	if offset := binary.BigEndian.Uint32(bytes[:]) - binary.BigEndian.Uint32(p.Addr().AsSlice()); offset < 4 || !p.Contains(address.Next()) {
		return "" // EC2 reserves it
	}
	return address.String()
}
