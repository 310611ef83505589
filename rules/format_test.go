package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
)

func TestFormat(t *testing.T) {
	const kib, mib, gib, tib = 1 << 10, 1 << 20, 1 << 30, 1 << 40
	for _, c := range []struct {
		value float64
		unit  rules.Unit
		want  string
	}{
		{0, rules.Share, "0 %"},
		{0.005, rules.Share, "0.5 %"},
		{0.1, rules.Share, "10 %"},
		{0.1234, rules.Share, "12.3 %"},
		{0.99996, rules.Share, "100 %"},
		{1, rules.Share, "100 %"},
		{12.347, rules.Share, "1,235 %"},
		{-0.1, rules.Share, "-10 %"},

		{3, rules.Times, "3 times"},
		{3.5, rules.Times, "3.5 times"},
		{3.4567, rules.Times, "3.46 times"},

		{0, rules.Bytes, "0 B"},
		{512, rules.Bytes, "512 B"},
		{64 * kib, rules.Bytes, "64 KiB"},
		{kib - 0.2, rules.Bytes, "1 KiB"},
		{mib - 1, rules.Bytes, "1 MiB"},
		{200 * mib, rules.Bytes, "200 MiB"},
		{0.8 * gib, rules.Bytes, "819 MiB"},
		{1.5 * gib, rules.Bytes, "1.5 GiB"},
		{2000 * tib, rules.Bytes, "2,000 TiB"},

		{0, rules.Milliseconds, "0 ms"},
		{0.25, rules.Milliseconds, "0.25 ms"},
		{850, rules.Milliseconds, "850 ms"},
		{999.5, rules.Milliseconds, "1 s"},
		{999.4, rules.Milliseconds, "999 ms"},
		{10_000, rules.Milliseconds, "10 s"},
		{12_500, rules.Milliseconds, "12.5 s"},
		{0.05, rules.Seconds, "50 ms"},
		{0.1, rules.Seconds, "100 ms"},
		{59.94, rules.Seconds, "59.9 s"},
		{59.96, rules.Seconds, "1 min"},
		{90, rules.Seconds, "1 min 30 s"},
		{300, rules.Seconds, "5 min"},
		{3599.6, rules.Seconds, "1 h"},
		{7529, rules.Seconds, "2 h 5 min"},
		{360_000, rules.Seconds, "100 h"},

		{3.2, rules.CoreHours, "3.2 core-hours"},
		{1, rules.CoreHours, "1 core-hour"},
		{1234.5, rules.CoreHours, "1,235 core-hours"},

		{0, rules.Count, "0"},
		{1, rules.Count, "1"},
		{999, rules.Count, "999"},
		{12_000, rules.Count, "12,000"},
		{1e6, rules.Count, "1,000,000"},
	} {
		require.Equal(t, c.want, rules.Format(c.value, c.unit), "%v %s", c.value, c.unit)
	}
}
