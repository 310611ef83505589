package platform_test

import (
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func TestSampledTrace(t *testing.T) {
	trace := func(last uint64) (id [16]byte) {
		id[0] = 0xff // does not count
		binary.BigEndian.PutUint64(id[8:], last)
		return id
	}
	for _, test := range []struct {
		last  uint64
		ratio float64
		want  bool
	}{
		{0, 0, false}, {1<<64 - 1, 1, true}, {0, 0.001, true}, {1<<62 - 1, 0.5, true}, {1 << 62, 0.5, false},
		{1<<63 | 1<<62 - 1, 0.5, true}, {1<<63 | 1<<62, 0.5, false}, {0, -1, false}, {1<<63 - 1, 2, true},
	} {
		require.Equal(t, test.want, platform.SampledTrace(trace(test.last), test.ratio), "%x at %v", test.last, test.ratio)
	}
	kept := 0
	for i := range 10_000 {
		if platform.SampledTrace(platform.TraceID("s-"+strconv.Itoa(i)), 0.1) {
			kept++
		}
	}
	require.InDelta(t, 1000, kept, 150, "of hashed ids, the ratio's share")
}
