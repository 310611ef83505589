package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Types of the EC2 User Guide's tables of each family.
func TestVCPUsOfInstanceTypes(t *testing.T) {
	for name, want := range map[string]int{
		"m5.large": 2, "m5.xlarge": 4, "r6g.2xlarge": 8, "c5.9xlarge": 36, "c5.24xlarge": 96, "m7g.medium": 1, "t3.medium": 2,
		"i3en.6xlarge": 24, "x2idn.16xlarge": 0, "g5.xlarge": 0, "inf2.xlarge": 0, "hpc7g.4xlarge": 0, "m5.metal": 0,
	} {
		have, ok := standardVCPUs(name)
		require.Equal(t, want, have, name)
		require.Equal(t, want > 0, ok, name)
	}
}
