package platform_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func TestParseSparkSize(t *testing.T) {
	const mebi = 1 << 20
	for _, c := range []struct {
		text string
		bare int64
		want int64
	}{
		{"512", mebi, 512 << 20}, {"512", 1, 512}, {"0", mebi, 0}, {"007", 1, 7},
		{"10b", mebi, 10}, {"10b", 1, 10}, {"3k", mebi, 3 << 10}, {"3kb", 1, 3 << 10}, {"7m", 1, 7 << 20}, {"7mb", 1, 7 << 20},
		{"4g", mebi, 4 << 30}, {"4GB", mebi, 4 << 30}, {"4Gb", 1, 4 << 30}, {" 2t\t", mebi, 2 << 40}, {"2tb", 1, 2 << 40},
		{"1p", mebi, 1 << 50}, {"1pb", mebi, 1 << 50},
		{"9223372036854775807", 1, math.MaxInt64}, {"9223372036854775807b", mebi, math.MaxInt64},
		{"8796093022207", mebi, 8796093022207 << 20}, {"8191p", 1, 8191 << 50}, {"9007199254740991k", 1, 9007199254740991 << 10},
	} {
		got, ok := platform.ParseSparkSize(c.text, c.bare)
		require.True(t, ok, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	for _, text := range []string{
		"", " ", "b", "g", "x", "4x", "4e", "4gg", "4bb", "4bk", "4km", "4gt", "4gib", "-1g", "+4g", "1.5g", "4 g", "4g 4g", "٤g", "0x4g",
		"9223372036854775808", "99999999999999999999", "8796093022208", "8192p", "9007199254740992k",
	} {
		_, ok := platform.ParseSparkSize(text, mebi)
		require.False(t, ok, "%q", text)
	}
}
