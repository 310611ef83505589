package findings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func millis(ms float64) string     { return rules.Format(ms, rules.Milliseconds) }
func size(bytes float64) string    { return rules.Format(bytes, rules.Bytes) }
func percent(share float64) string { return rules.Format(share, rules.Share) }

func count(n int64) string { return rules.Format(float64(n), rules.Count) }

// counted returns a number of things; one is in the singular.
func counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// number parses a setting that is a number.
func number(setting string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(setting), 64)
	return n, err == nil
}

// memory parses a setting that is a size; without a unit it is in MiB.
func memory(setting string) (bytes float64, ok bool) {
	n, ok := platform.ParseSparkSize(setting, mebibyte)
	return float64(n), ok
}

const (
	mebibyte = 1 << 20
	nanos    = 1e6 // in a millisecond
)

// mebibytes returns a size as Spark's settings have it.
func mebibytes(bytes float64) string { return fmt.Sprintf("%.0fm", bytes/mebibyte) }

// firstLine returns the first line of a text that a job or a cluster wrote.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
