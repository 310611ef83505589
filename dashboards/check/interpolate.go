package check

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// window is the time range of a query and the intervals that Grafana derives
// from it.
type window struct {
	since, until time.Time
	step         time.Duration
	rate         time.Duration // $__rate_interval
}

// maxDataPoints is what Grafana requests for a graph 1000 pixels wide.
const maxDataPoints = 1000

// newWindow follows grafana pkg/promlib/models/query.go: the step is the range
// by the points, rounded, but not less than the source's interval, and the rate
// interval spans at least four of those. The first interval that is set applies.
func newWindow(since, until time.Time, intervals ...string) window {
	scrape := platform.CollectionInterval
	for _, text := range intervals {
		if d, err := time.ParseDuration(strings.TrimPrefix(text, ">")); err == nil && d > 0 {
			scrape = d
			break
		}
	}
	step := max(roundInterval(until.Sub(since)/maxDataPoints), scrape)
	return window{since: since, until: until, step: step, rate: max(step+scrape, 4*scrape)}
}

// roundInterval rounds by Grafana's table (pkg/components/gtime RoundInterval) from
// one second up; a range shorter than a pair's first becomes its second.
func roundInterval(d time.Duration) time.Duration {
	const day = 24 * time.Hour
	for _, pair := range [][2]time.Duration{
		{1500 * time.Millisecond, time.Second}, {3500 * time.Millisecond, 2 * time.Second},
		{7500 * time.Millisecond, 5 * time.Second}, {12500 * time.Millisecond, 10 * time.Second},
		{17500 * time.Millisecond, 15 * time.Second}, {25 * time.Second, 20 * time.Second},
		{45 * time.Second, 30 * time.Second}, {90 * time.Second, time.Minute},
		{210 * time.Second, 2 * time.Minute}, {450 * time.Second, 5 * time.Minute},
		{750 * time.Second, 10 * time.Minute}, {1050 * time.Second, 15 * time.Minute},
		{1500 * time.Second, 20 * time.Minute}, {2700 * time.Second, 30 * time.Minute},
		{5400 * time.Second, time.Hour}, {9000 * time.Second, 2 * time.Hour},
		{16200 * time.Second, 3 * time.Hour}, {9 * time.Hour, 6 * time.Hour},
		{day, 12 * time.Hour}, {7 * day, day}, {21 * day, 7 * day},
	} {
		if d < pair[0] {
			return pair[1]
		}
	}
	return 30 * day
}

// selection is what one variable is replaced by.
type selection struct {
	values []string
	raw    string // if set, inserted as it is: the variable's value for "All"
	single bool   // a single-value variable, which plugins do not format
}

// values are the selections of all variables, by name.
type values map[string]selection

// format renders the values of a variable for a query.
type format func([]string) string

// pluginFormat returns the format that a plugin applies to a variable without one.
func pluginFormat(plugin string) format {
	switch plugin {
	case metricsPlugin:
		return prometheusRegex
	// The other plugins have formats of their own or use Grafana's default, a glob.
	case logsPlugin:
		return func(v []string) string { return parenthesize(v, " OR ") }
	case tracesPlugin:
		return joinedBy("|")
	case profilesPlugin:
		return glob
	}
	return nil
}

// namedFormat returns the format of ${variable:name} (grafana, variable syntax);
// nil if the name is unknown.
func namedFormat(name string) format {
	switch name {
	case "pipe":
		return joinedBy("|")
	case "csv", "raw":
		return joinedBy(",")
	case "glob":
		return glob
	case "regex":
		return func(v []string) string { return parenthesize(escapeAll(v), "|") }
	case "doublequote":
		return func(v []string) string {
			quoted := make([]string, len(v))
			for i, one := range v {
				quoted[i] = strconv.Quote(one)
			}
			return strings.Join(quoted, ",")
		}
	}
	return nil
}

func joinedBy(separator string) format {
	return func(v []string) string { return strings.Join(v, separator) }
}

func glob(v []string) string {
	if len(v) == 1 {
		return v[0]
	}
	return "{" + strings.Join(v, ",") + "}"
}

func parenthesize(v []string, separator string) string {
	if len(v) == 1 {
		return v[0]
	}
	return "(" + strings.Join(v, separator) + ")"
}

func escapeAll(v []string) []string {
	out := make([]string, len(v))
	for i, one := range v {
		out[i] = regexp.QuoteMeta(one)
	}
	return out
}

// prometheusRegex doubles the backslashes, since the value is in a string
// literal.
func prometheusRegex(v []string) string {
	return strings.ReplaceAll(parenthesize(escapeAll(v), "|"), `\`, `\\`)
}

var reference = regexp.MustCompile(`\$\{(\w+)(?::([\w-]+))?\}|\$(\w+)`)

// interpolate replaces Grafana's macros and variables. A name that is neither
// is an error: Grafana would send it unchanged.
func interpolate(text string, v values, w window, standard format) (string, error) {
	if text == "" {
		return "", errors.New("the query is empty")
	}
	var errs []error
	out := reference.ReplaceAllStringFunc(text, func(token string) string {
		match := reference.FindStringSubmatch(token)
		name := match[1] + match[3]
		if macro, ok := w.macro(name); ok {
			return macro
		}
		value, ok := v[name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s is not a variable of this dashboard", token))
			return token
		}
		if value.raw != "" {
			return value.raw
		}
		write := standard
		if value.single {
			write = namedFormat("raw")
		}
		if match[2] != "" {
			write = namedFormat(match[2])
		}
		if write == nil {
			errs = append(errs, fmt.Errorf("%s: unknown format %q", token, match[2]))
			return token
		}
		return write(value.values)
	})
	return out, errors.Join(errs...)
}

// macro returns the value of one of Grafana's global variables ($__range …).
func (w window) macro(name string) (string, bool) {
	seconds := func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	length := w.until.Sub(w.since)
	switch name {
	case "__rate_interval":
		return seconds(w.rate) + "s", true
	case "__interval":
		return seconds(w.step) + "s", true
	case "__interval_ms":
		return millis(w.step), true
	case "__range":
		return seconds(length) + "s", true
	case "__range_s":
		return seconds(length), true
	case "__range_ms":
		return millis(length), true
	case "__from":
		return strconv.FormatInt(w.since.UnixMilli(), 10), true
	case "__to":
		return strconv.FormatInt(w.until.UnixMilli(), 10), true
	}
	return "", false
}
