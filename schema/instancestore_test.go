package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

func TestInstanceStoresThatEMREncrypts(t *testing.T) {
	for _, encrypted := range []string{"d2.xlarge", "d3en.xlarge", "h1.2xlarge", "i2.xlarge", "m3.xlarge", "r3.xlarge", "x1e.xlarge"} {
		require.True(t, schema.EncryptsInstanceStore(encrypted), encrypted)
	}
	for _, other := range []string{
		"m5d.xlarge", "m7gd.large", "r6gd.metal", "z1d.large", "i3.xlarge", "i3en.2xlarge", "i4g.large", "im4gn.large", "g5.xlarge", // NVMe
		"m5.xlarge", "m7g.large", "t3.large", "", // none
	} {
		require.False(t, schema.EncryptsInstanceStore(other), other)
	}
}
