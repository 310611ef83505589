package platform

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var sparkSize = regexp.MustCompile(`^([0-9]+)([kmgtp]?)(b?)$`)

// ParseSparkSize returns the bytes of a size as Spark's properties have it, such as 512m or
// 4gb (org.apache.spark.network.util.JavaUtils.byteStringAs). A number alone counts bare
// bytes each: what those are depends on the property. It is no size if it exceeds an int64.
func ParseSparkSize(text string, bare int64) (bytes int64, ok bool) {
	match := sparkSize.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if match == nil {
		return 0, false
	}
	number, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := bare
	if letter, b := match[2], match[3]; letter+b != "" {
		unit = 1 << (10 * (1 + strings.Index("kmgtp", letter)))
		if letter == "" {
			unit = 1
		}
	}
	if number > math.MaxInt64/unit {
		return 0, false
	}
	return number * unit, true
}
