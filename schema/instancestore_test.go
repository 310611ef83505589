package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

func TestInstanceStoreFollowsFromTheType(t *testing.T) {
	for _, with := range []string{
		"m5d.xlarge", "m5dn.2xlarge", "m7gd.large", "c6id.4xlarge", "r5ad.xlarge", "r6gd.metal", "x2iedn.xlarge", "z1d.large",
		"g4dn.xlarge", "i3.xlarge", "i3en.2xlarge", "i4g.large", "i7ie.large", "im4gn.large", "is4gen.large", "d2.xlarge", "d3en.xlarge",
		"h1.2xlarge", "m3.xlarge", "r3.xlarge", "x1e.xlarge", "p3dn.24xlarge", "p4d.24xlarge", "g5.xlarge", "trn1.2xlarge",
	} {
		require.True(t, schema.HasInstanceStore(with), with)
	}
	for _, without := range []string{
		"m5.xlarge", "m7g.large", "c6i.4xlarge", "r5a.xlarge", "r7iz.large", "x2iezn.2xlarge", "g3s.xlarge", "g5g.xlarge", "p3.2xlarge",
		"hpc7g.4xlarge", "inf1.xlarge", "t3.large", "", "d",
	} {
		require.False(t, schema.HasInstanceStore(without), without)
	}
}
