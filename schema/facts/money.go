package facts

import (
	"fmt"
	"strconv"
	"strings"
)

// MicroUSD is an amount of US dollars in millionths: AWS's prices have up to six decimals,
// and sums of them stay exact.
type MicroUSD int64

const (
	microDecimals = 6
	perUSD        = 1_000_000
	perCent       = perUSD / 100
)

// String writes the amount in dollars and cents, rounded: $1234.57.
func (m MicroUSD) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	cents := (m + perCent/2) / perCent
	return fmt.Sprintf("%s$%d.%02d", sign, cents/100, cents%100)
}

// USD returns the amount in dollars, for formats that have binary fractions only.
func (m MicroUSD) USD() float64 { return float64(m) / perUSD }

// Exact writes the amount in dollars with four decimals, rounded: $0.0110.
func (m MicroUSD) Exact() string {
	const shown = perCent / 100
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	parts := (m + shown/2) / shown
	return fmt.Sprintf("%s$%d.%04d", sign, parts/(perUSD/shown), parts%(perUSD/shown))
}

// MarshalJSON writes the amount as a decimal number of dollars.
func (m MicroUSD) MarshalJSON() ([]byte, error) {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	fraction := strings.TrimRight(fmt.Sprintf("%06d", m%perUSD), "0")
	return []byte(strings.TrimSuffix(fmt.Sprintf("%s%d.%s", sign, m/perUSD, fraction), ".")), nil
}

// UnmarshalJSON reads what MarshalJSON writes, without a detour through binary fractions.
func (m *MicroUSD) UnmarshalJSON(data []byte) error {
	whole, fraction, _ := strings.Cut(string(data), ".")
	if len(fraction) > microDecimals {
		return fmt.Errorf("read price %s: more than %d decimals", data, microDecimals)
	}
	value, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", microDecimals-len(fraction)), 10, 64)
	if err != nil {
		return fmt.Errorf("read price %s: %w", data, err)
	}
	*m = MicroUSD(value)
	return nil
}
