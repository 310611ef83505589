package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func validConfig() schema.Config {
	c := schema.Defaults()
	c.Region = "us-east-1"
	return c
}

func TestDefaultsAreValid(t *testing.T) {
	require.NoError(t, validConfig().Validate())
	require.ErrorContains(t, schema.Defaults().Validate(), "region")
}

func TestEveryRuleTagNamesARule(t *testing.T) {
	for _, f := range decode.Fields(schema.Defaults()) {
		if f.Rule == "" {
			continue
		}
		r, ok := schema.RuleNamed(f.Rule)
		require.True(t, ok, "%s: no rule %q", f.Path, f.Rule)
		require.True(t, strings.HasPrefix(r.Text, "must be "), "%s: %q", f.Path, r.Text)
	}
}

// The bounds in a rule's text are those that it checks.
func TestRuleTextsStateTheirBounds(t *testing.T) {
	for name, values := range map[string]struct{ in, out []any }{
		"days":         {[]any{1, 3650}, []any{0, 3651, "1"}},
		"artifactDays": {[]any{0, 3650}, []any{-1, 3651}},
		"idleTimeout":  {[]any{0, 1, 10080}, []any{-1, 10081}},
		"perInstance":  {[]any{1, 24}, []any{0, 25}},
		"dataVolume": {[]any{platform.MinDataVolumeGiB, platform.MaxDataVolumeGiB},
			[]any{platform.MinDataVolumeGiB - 1, platform.MaxDataVolumeGiB + 1}},
		"release": {[]any{"emr-6.15.0", "emr-7.0.0", "emr-7.14.0"}, []any{"emr-6.14.1", "emr-7.10.1", "emr-8.1.2", "7.10.0", "emr-spark-8.0.0"}},
		"image":   {[]any{"", "ami-0123abcd", "ami-0123456789abcdef0"}, []any{"ami-", "ami-0123456789abcdef", "ami-0123ABCD", "latest"}},
		"instanceType": {[]any{"m5.xlarge", "t4g.nano", "u-6tb1.56xlarge", "c7g.metal", "m7i.metal-24xl"},
			[]any{"m5", "abc.large", "m5.2large", "M5.large"}},
		"emrInstanceType": {[]any{"m5.large", "m5.24xlarge"}, []any{"t3.micro", "m1.medium"}},
		"price":           {[]any{"", "0.12", "999"}, []any{"0.00", "$1", "1000", "0.123456", "onDemand"}},
		"groupPrice":      {[]any{"", "0.12", "onDemand"}, []any{"0.00", "ondemand", "100%"}},
		"budget":          {[]any{0, 1, 5000}, []any{-1, 100_000_001}},
		"budgetAction":    {[]any{"warn", "refuse"}, []any{"", "Refuse"}},
		"tenantShare":     {[]any{1, 100}, []any{0, 101}},
		"tenantCeiling":   {[]any{1, 100}, []any{0, 101}},
		"tenantKey":       {[]any{"a", "team-a", "team_1"}, []any{"", "Team", "a-", "a.b", "1a"}},
		"preset":          {[]any{"", "data-lake"}, []any{"datalake", "Development"}},
		"vpcCidr": {[]any{"10.0.0.0/16", "192.168.1.0/24"}, []any{"10.0.0.0/15", "10.0.0.0/25", "10.0.0.1/16", "8.8.0.0/16",
			"fd00::/16"}},
		"operatorCidr": {[]any{"10.0.0.0/8", "2001:db8::/32"}, []any{"0.0.0.0/1", "::/31", "203.0.113.7", "::ffff:10.0.0.0/104"}},
		"dnsServer": {[]any{"10.0.0.2", "172.16.1.9", "8.8.8.8"}, []any{"127.0.0.1", "169.254.169.253", "224.0.0.251", "255.255.255.255",
			"0.0.0.0", "fd00::53", "10.0.0.2/32", "AmazonProvidedDNS", ""}},
		"boundary": {[]any{"", "arn:aws:iam::123456789012:policy/team/boundary", "arn:aws-cn:iam::aws:policy/PowerUserAccess"},
			[]any{"boundary", "arn:aws:iam::123456789012:role/boundary", "arn:aws:iam::1234:policy/boundary"}},
		"iamPath": {[]any{"", "/team/", "/a/b/", "/" + strings.Repeat("a", 510) + "/"},
			[]any{"/", "team/", "/team", "//", "/a b/", "/*/", "/aws-service-role/x/", "/" + strings.Repeat("a", 511) + "/"}},
		"timezone":        {[]any{"UTC", "Europe/Berlin", "America/Argentina/Ushuaia"}, []any{"", "Local", "CET+1", "berlin"}},
		"scheduleTime":    {[]any{"", "2027-01-31T06:00:00Z", "2027-01-31T06:00:00+01:00"}, []any{"2027-01-31", "06:00"}},
		"scheduleRetries": {[]any{0, 185}, []any{-1, 186}},
		"scheduleAge":     {[]any{1, 1440}, []any{0, 1441}},
		"arch":            {[]any{"amd64", "arm64"}, []any{"x86_64"}},
		"comparison":      {[]any{"LESS_THAN", "GREATER_THAN_OR_EQUAL"}, []any{"LESS"}},
		"traceProtocol":   {[]any{"grpc", "http"}, []any{"udp"}},
		"region":          {[]any{"us-east-1", "us-gov-west-1"}, []any{"us-east-1a", "moon", "us-east-10"}},
	} {
		r, ok := schema.RuleNamed(name)
		require.True(t, ok, name)
		for _, v := range values.in {
			require.True(t, r.Holds(v), "%s rejects %v", name, v)
		}
		for _, v := range values.out {
			require.False(t, r.Holds(v), "%s accepts %v", name, v)
		}
		if r.Max > 0 {
			require.Contains(t, r.Text, fmt.Sprintf("%d to %d", r.Min, r.Max))
		}
	}
}

func TestVolumeTextsStateEveryKind(t *testing.T) {
	size, _ := schema.RuleNamed("volumeSize")
	kinds, _ := schema.RuleNamed("volumeType")
	for _, k := range schema.VolumeKinds() {
		require.Contains(t, size.Text, fmt.Sprintf("%d to %d for %s", k.MinGiB, k.MaxGiB, k.Type))
		require.Contains(t, kinds.Values, k.Type)
	}
}

func TestTags(t *testing.T) {
	validate := func(tags map[string]string) error {
		c := validConfig()
		c.Tags = tags
		return c.Validate()
	}
	for _, c := range []struct {
		name string
		tags map[string]string
		want string // "" = no violation
	}{
		{"none", nil, ""},
		{"usual", map[string]string{"team": "data", "cost centre": "a/b:c=1+2-3@x", "größe": "ü"}, ""},
		{"longest", map[string]string{strings.Repeat("k", 128): strings.Repeat("v", 256)}, ""},
		{"longest in other scripts", map[string]string{strings.Repeat("é", 128): strings.Repeat("語", 256)}, ""},
		{"no key", map[string]string{"": "x"}, "tags.: "},
		{"long key", map[string]string{strings.Repeat("k", 129): "x"}, "1 to 128"},
		{"long value", map[string]string{"k": strings.Repeat("v", 257)}, "tags.k"},
		{"odd key", map[string]string{"a<b": "x"}, "tags.a<b"},
		{"odd value", map[string]string{"k": "a\nb"}, "tags.k"},
		{"prefix of AWS", map[string]string{"AWS:x": "y"}, "without the prefix aws:"},
		{"name tag", map[string]string{"Name": "y"}, "tags.Name"},
		{"stack tag", map[string]string{platform.TagStack: "y"}, "tags." + platform.TagStack},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := validate(c.tags)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	many := map[string]string{}
	for i := range 9 {
		many[strings.Repeat("k", i+1)] = ""
	}
	require.ErrorContains(t, validate(many), "tags: 9")
}

func TestCredentialsInEndpointsAreHidden(t *testing.T) {
	c := validConfig()
	c.Grafana.URL = "https://admin:hunter2@grafana:3000"
	err := c.Validate()
	require.ErrorContains(t, err, "grafana.url: [hidden]")
	require.NotContains(t, err.Error(), "hunter2")
}

// The control node finds its data volume under a name that only Nitro gives it.
func TestControlNodeRunsOnNitro(t *testing.T) {
	for name, nitro := range map[string]bool{
		"t2.large": false, "m4.xlarge": false, "i3.xlarge": false, "x1e.xlarge": false,
		"i3.metal": true, "c4.metal-48xl": true, // of older families
		"t3.large": true, "m5.xlarge": true, "i3en.xlarge": true, "p3dn.24xlarge": true, "x2idn.16xlarge": true,
		"m99i.large": true, // newer than the facts
	} {
		c := validConfig()
		c.ControlNode.InstanceType = name
		if nitro {
			require.NoError(t, c.Validate(), name)
		} else {
			require.ErrorContains(t, c.Validate(), "controlNode.instanceType", name)
		}
	}
}

func TestControlNodeHoldsItsWorkloads(t *testing.T) {
	for name, large := range map[string]bool{"t3.nano": false, "t3.small": false, "c6g.medium": false, "t3.medium": true, "c5.large": true} {
		c := validConfig()
		c.ControlNode.InstanceType, c.ControlNode.Arch = name, schema.Arch(name)
		if large {
			require.NoError(t, c.Validate(), name)
		} else {
			require.ErrorContains(t, c.Validate(), "must have at least 4 GiB of memory", name)
		}
	}
}

// The bootstrap action, which all clusters share, lists the artifacts by architecture.
func TestRemedyOfAnArchitectureNamesWhatItReplaces(t *testing.T) {
	c := validConfig()
	var cluster schema.Cluster
	cluster.SetDefaults()
	cluster.Master.InstanceType = "m7g.xlarge"
	c.Clusters = map[string]schema.Cluster{"main": cluster}
	c.Architectures = []string{platform.ArchAMD64}
	require.ErrorContains(t, c.Validate(), "add arm64, which m7g.xlarge has, or choose another type: ")
	require.ErrorContains(t, c.Validate(), "of all clusters, and so replaces each of them")
}

func TestGravitonFamiliesAreARM(t *testing.T) {
	for name, want := range map[string]string{
		"a1.large": platform.ArchARM64, "m7g.large": platform.ArchARM64, "c6gn.xlarge": platform.ArchARM64, "im4gn.large": platform.ArchARM64,
		"x2gd.large": platform.ArchARM64, "t4g.nano": platform.ArchARM64, "g5g.xlarge": platform.ArchARM64,
		"m99g.large": platform.ArchARM64, "m99gn.large": platform.ArchARM64, "g99.large": platform.ArchAMD64, // newer than the facts
		"g4dn.xlarge": platform.ArchAMD64, "m5.large": platform.ArchAMD64, "r6idn.large": platform.ArchAMD64, "g6e.xlarge": platform.ArchAMD64,
	} {
		require.Equal(t, want, schema.Arch(name), name)
	}
}

func TestLimitsThatNoDocumentedCaseReaches(t *testing.T) {
	c := validConfig()
	var cluster schema.Cluster
	cluster.SetDefaults()
	for i := range schema.MaxClusters + 1 {
		c.Clusters[fmt.Sprintf("c%d", i)] = cluster
	}
	require.ErrorContains(t, c.Validate(), "clusters: 21 must be at most 20 clusters")

	c = validConfig()
	cluster.Core.EBS = []schema.Volume{{Type: "gp2", SizeGiB: 10, PerInstance: 20}, {Type: "gp2", SizeGiB: 20, PerInstance: 5}}
	c.Clusters["etl"] = cluster
	require.ErrorContains(t, c.Validate(), "clusters.etl.core.ebs: 25 must be 24 volumes on each instance at most")

	var l violation.List
	schema.CheckRegion(&l, "region", "moon")
	require.ErrorContains(t, l.Err(), "region: \"moon\"")
}
