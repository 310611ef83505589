package platform

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// ParseSamplingRatio reads a share of the traces as SparkSamplingRatio has it.
func ParseSamplingRatio(text string) (float64, error) {
	ratio, err := strconv.ParseFloat(text, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) { // NaN is neither
		return 0, fmt.Errorf("%q: must be a number from 0 to 1; 1 keeps every trace", text)
	}
	return ratio, nil
}

// SampledTrace reports whether a trace that nobody has decided on is among the share
// ratio that is kept. Every process that knows the trace id decides alike: sampled are
// ids whose last 8 bytes, with their top bit cleared, are less than ratio of all.
func SampledTrace(trace [16]byte, ratio float64) bool {
	const values = 1 << 63
	return ratio >= 1 || binary.BigEndian.Uint64(trace[8:])&(values-1) < uint64(max(0, ratio)*values)
}
