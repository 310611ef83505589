package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestKey(t *testing.T) {
	known := []string{"region", "tags", "sts", "operatorCidrs", "intervalMinutes"}
	for key, want := range map[string]string{
		"regoin": "region", "Region": "region", "operatorCIDRs": "operatorCidrs", "operator-cidrs": "operatorCidrs",
		"operatorCidr": "operatorCidrs", "tag": "", "tasg": "", "tage": "tags", "sqs": "", "colour": "", "": "", "interval": "",
	} {
		require.Equal(t, want, Nearest(key, known, editsOf(key)), key)
	}
}
