package schema

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkSparkValues refuses values of Spark's settings that Spark itself cannot read. Those
// that a SparkContext reads stop every application; those of Spark SQL stop every session,
// which reads them all when it starts (SparkSession, SQLConf.mergeSparkConf).
func checkSparkValues(l *violation.List, s settings) {
	s.each(func(classification, property string, v setting) {
		known, typed := facts.SparkSettingNamed(property)
		if classification != sparkDefaults || !typed || isReference(v.value) {
			return
		}
		text, remedy := describe(known)
		l.Require(takes(known, v.value), v.path, v.value, "must be "+text+": Spark cannot read anything else", remedy)
	})
}

// isReference reports whether a value names another, which Spark puts in its place
// (org.apache.spark.internal.config.ConfigReader).
func isReference(value string) bool { return strings.Contains(value, "${") }

// takes reports whether Spark reads a value of a setting.
func takes(s facts.SparkSetting, value string) bool {
	switch s.Type {
	case facts.TypeBoolean:
		_, ok := parseSparkBool(value)
		return ok
	case facts.TypeDouble:
		n, ok := parseSparkDouble(value)
		return ok && within(s, n)
	case facts.TypeChoice:
		return slices.ContainsFunc(s.Values, func(one string) bool {
			return value == one || s.AnyCase && strings.EqualFold(value, one)
		})
	}
	n, ok := parseSparkNumber(s, value)
	return ok && within(s, float64(n))
}

// parseSparkNumber reads a number, a size or a duration in the setting's own unit.
func parseSparkNumber(s facts.SparkSetting, value string) (int64, bool) {
	switch s.Type {
	case facts.TypeBytes:
		return parseSparkBytes(value, unitBytes(s.Unit))
	case facts.TypeDuration:
		d, ok := parseSparkDuration(value, unitDurations()[s.Unit])
		return int64(d / unitDurations()[s.Unit]), ok
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	return n, err == nil && (s.Type == facts.TypeLong || n >= math.MinInt32 && n <= math.MaxInt32)
}

// within reports whether a number is inside the setting's bounds.
func within(s facts.SparkSetting, n float64) bool {
	if text, open := strings.CutPrefix(s.Min, ">"); text != "" {
		if least, _ := strconv.ParseFloat(text, 64); n < least || open && n == least || math.IsNaN(n) {
			return false
		}
	}
	if text, open := strings.CutPrefix(s.Max, "<"); text != "" {
		if most, _ := strconv.ParseFloat(text, 64); n > most || open && n == most || math.IsNaN(n) {
			return false
		}
	}
	return true
}

// describe says what Spark takes of a setting, and what to write.
func describe(s facts.SparkSetting) (rule, remedy string) {
	switch s.Type {
	case facts.TypeBoolean:
		return "true or false", "write true or false"
	case facts.TypeChoice:
		return joinOr(s.Values), "write one of them"
	case facts.TypeBytes:
		return "a size such as 4g or 512m" + bounds(s), "write a whole number and k, m, g or t"
	case facts.TypeDuration:
		return "a duration such as 30s or 5m" + bounds(s), "write a whole number and ms, s, m, h or d"
	case facts.TypeDouble:
		return "a number such as 0.5" + bounds(s), "write it as a decimal"
	}
	return "a whole number" + bounds(s), "write it as digits"
}

// bounds says between what a number must be.
func bounds(s facts.SparkSetting) string {
	out := ""
	if text, open := strings.CutPrefix(s.Min, ">"); open {
		out += ", above " + text + s.Unit
	} else if text != "" {
		out += ", at least " + text + s.Unit
	}
	if text, open := strings.CutPrefix(s.Max, "<"); open {
		out += ", below " + text + s.Unit
	} else if text != "" {
		out += ", at most " + text + s.Unit
	}
	return out
}

// parseSparkBool reads a boolean as Scala does (StringOps.toBoolean, of trimmed text).
func parseSparkBool(value string) (on, ok bool) {
	text := strings.ToLower(strings.TrimSpace(value))
	return text == "true", text == "true" || text == "false"
}

// javaDouble matches what Java adds to the syntax of decimals (Double.valueOf).
var javaDouble = regexp.MustCompile(`^[+-]?([\d.]+([eE][+-]?\d+)?[fFdD]?|NaN|Infinity)$`)

func parseSparkDouble(value string) (float64, bool) {
	text := strings.TrimSpace(value)
	if !javaDouble.MatchString(text) {
		return 0, false
	}
	if text != "Infinity" && text != "NaN" {
		text = strings.TrimRight(text, "fFdD")
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// parseSparkBytes reads a size, which may be below 0 (ConfigHelpers.byteFromString), in
// a unit of its own.
func parseSparkBytes(value string, unit int64) (int64, bool) {
	text, negative := strings.CutPrefix(value, "-")
	size, ok := platform.ParseSparkSize(text, unit)
	if negative {
		size = -size
	}
	return size / unit, ok
}

// unitBytes returns the bytes of a unit of sparksettings.json.
func unitBytes(unit string) int64 {
	size, _ := platform.ParseSparkSize("1"+unit, 1)
	return size
}

var sparkDuration = regexp.MustCompile(`^(-?\d+)([a-z]*)$`)

// unitDurations are the units that Spark knows (org.apache.spark.network.util.JavaUtils).
func unitDurations() map[string]time.Duration {
	const day = 24 * time.Hour
	return map[string]time.Duration{
		"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": day,
	}
}

// parseSparkDuration reads a duration; a number alone counts units.
func parseSparkDuration(value string, unit time.Duration) (time.Duration, bool) {
	match := sparkDuration.FindStringSubmatch(strings.ToLower(strings.TrimSpace(value)))
	if match == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	if match[2] != "" {
		named, known := unitDurations()[match[2]]
		if !known {
			return 0, false
		}
		unit = named
	}
	if err != nil {
		return 0, false
	}
	if n > int64(math.MaxInt64/unit) || n < int64(math.MinInt64/unit) {
		return math.MaxInt64, true // far beyond every bound
	}
	return time.Duration(n) * unit, true
}
