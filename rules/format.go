package rules

import (
	"math"
	"strconv"
	"strings"
)

// Steps between the units of bytes and of durations.
const (
	bytesPerStep       = 1024
	millisPerSecond    = 1000
	secondsPerMinute   = 60
	minutesPerHour     = 60
	significantDigits  = 3
	percentOfOne       = 100
	digitsPerThousands = 3
)

// Format writes a value for readers: up to three significant digits, whole numbers with
// separators of thousands, bytes and durations in the unit that suits their size. Texts of
// panels, findings and the reference all have it from here.
func Format(value float64, unit Unit) string {
	if value < 0 {
		return "-" + Format(-value, unit)
	}
	switch unit {
	case Share:
		return number(percentOfOne*value) + " %"
	case Times:
		return number(value) + " times"
	case Bytes:
		return formatBytes(value)
	case Milliseconds:
		return formatDuration(value)
	case Seconds:
		return formatDuration(millisPerSecond * value)
	case CoreHours:
		if text := number(value); text != "1" {
			return text + " core-hours"
		}
		return "1 core-hour"
	case Count:
	}
	return number(value)
}

// formatBytes promotes what would be rounded to 1,024 of a unit.
func formatBytes(value float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for math.Round(value) >= bytesPerStep && len(units) > 1 {
		value, units = value/bytesPerStep, units[1:]
	}
	return number(value) + " " + units[0]
}

// formatDuration rounds to what it shows before it chooses the unit: 59.96 s is a minute.
func formatDuration(milliseconds float64) string {
	if rounded(milliseconds) < millisPerSecond {
		return number(milliseconds) + " ms"
	}
	seconds := milliseconds / millisPerSecond
	if rounded(seconds) < secondsPerMinute {
		return number(seconds) + " s"
	}
	if math.Round(seconds) < minutesPerHour*secondsPerMinute {
		return twoUnits(math.Round(seconds), secondsPerMinute, " min", " s")
	}
	return twoUnits(math.Round(seconds/secondsPerMinute), minutesPerHour, " h", " min")
}

// twoUnits writes a whole number of small units as large ones and the rest, if there is one.
func twoUnits(value, perLarge float64, large, small string) string {
	rest := math.Mod(value, perLarge)
	text := number((value-rest)/perLarge) + large
	if rest > 0 {
		text += " " + number(rest) + small
	}
	return text
}

// number writes up to three significant digits, and whole numbers in full.
func number(value float64) string {
	text := strconv.FormatFloat(rounded(value), 'f', decimals(value), 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - digitsPerThousands; i > 0; i -= digitsPerThousands {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// rounded returns the value that number writes.
func rounded(value float64) float64 {
	scale := math.Pow10(decimals(value))
	return math.Round(value*scale) / scale
}

// decimals is how many places behind the point make three significant digits.
func decimals(value float64) int {
	if value == 0 || math.IsInf(value, 0) || math.IsNaN(value) {
		return 0
	}
	return max(0, significantDigits-1-int(math.Floor(math.Log10(value))))
}
