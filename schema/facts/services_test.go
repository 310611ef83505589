package facts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// A region that has some prices has all: an estimate would miss the others.
func TestServicesOfARegionAreComplete(t *testing.T) {
	regions := map[string]bool{}
	for _, p := range facts.ServicesFile().Services {
		regions[p.Region] = true
		_, err := time.Parse(time.DateOnly, p.Date)
		require.NoError(t, err, p)
		require.NotEmpty(t, p.Source, p)
		require.NotEmpty(t, p.Unit, p)
		require.Positive(t, p.USD, p)
	}
	require.Contains(t, regions, "us-east-1")
	const items = 13
	require.Len(t, facts.ServicesFile().Services, items*len(regions))
	for region := range regions {
		s, found := facts.ServicesOf(region)
		require.True(t, found)
		for _, volume := range []string{"gp2", "gp3", "io1", "st1", "sc1", "standard"} {
			require.Positive(t, s.Volumes[volume].GiB, "%s in %s", volume, region)
		}
		require.Positive(t, s.Volumes["gp3"].IOPS)
		require.Positive(t, s.Volumes["gp3"].MiBs)
		require.Positive(t, s.Volumes["io1"].IOPS)
		require.Positive(t, s.NATGatewayHour)
		require.Positive(t, s.PublicIPv4Hour)
		require.Positive(t, s.InterfaceEndpointHour)
		require.Positive(t, s.KMSKeyMonth)
	}
	_, found := facts.ServicesOf("eu-nowhere-1")
	require.False(t, found)
}

func TestVolumesCostByWhatIsProvisioned(t *testing.T) {
	s, found := facts.ServicesOf("us-east-1")
	require.True(t, found)
	for _, c := range []struct {
		volume          string
		gib, iops, mibs int
		month           string
	}{
		{"gp3", 100, 0, 0, "$8.00"},
		{"gp3", 100, 3000, 125, "$8.00"},
		{"gp3", 2000, 10_000, 500, "$210.00"}, // 160 + 35 + 15
		{"gp2", 64, 0, 0, "$6.40"},
		{"io1", 100, 1000, 0, "$77.50"},
		{"st1", 500, 0, 0, "$22.50"},
	} {
		require.Equal(t, c.month, s.Volumes[c.volume].Month(c.gib, c.iops, c.mibs).String(), c)
	}
}

func TestDefaultVolumes(t *testing.T) {
	v, known := facts.DefaultVolumes("m5.xlarge")
	require.True(t, known)
	require.Equal(t, facts.DefaultVolume{Size: "xlarge", Type: "gp2", Count: 2, GiB: 32}, v)
	v, known = facts.DefaultVolumes("r6i.24xlarge")
	require.True(t, known)
	require.Equal(t, 4*384, v.Count*v.GiB)
	v, known = facts.DefaultVolumes("m5d.xlarge")
	require.True(t, known, "it has an instance store")
	require.Zero(t, v)
	_, known = facts.DefaultVolumes("r6i.32xlarge")
	require.False(t, known, "the guide does not list the size")
	_, known = facts.DefaultVolumes("m9.xlarge")
	require.False(t, known)
	require.Equal(t, facts.DefaultVolume{Type: "gp3", Count: 1, GiB: 15}, facts.RootVolume())
}
