package doctor

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Restated are values of spark-defaults that the platform's configuration
// repeats, because a key that it names drops EMR's own value.
type Restated struct {
	Release string            // the values are this release's
	Values  map[string]string // by key
	Agent   string            // what the platform appends to each
}

// ExamineNode compares the spark-defaults.conf of an EMR node with what the
// platform restates. Only a cluster without the platform still has EMR's own
// values: on the platform's nodes the file repeats the platform's.
func ExamineNode(file io.Reader, r Restated) (Report, error) {
	have, err := sparkDefaults(file)
	if err != nil {
		return Report{}, err
	}
	report := Report{OK: true}
	for _, key := range slices.Sorted(maps.Keys(r.Values)) {
		c := r.compare(key, have)
		report.OK = report.OK && c.OK
		report.Checks = append(report.Checks, c)
	}
	return report, nil
}

func (r Restated) compare(key string, have map[string]string) Check {
	c := Check{Name: key, Rule: fmt.Sprintf("must be %s, which the platform restates from %s", r.Values[key], r.Release)}
	value, found := have[key]
	switch {
	case !found:
		c.Found = "no such key"
		c.Remedy = "read /etc/spark/conf/spark-defaults.conf of an EMR node; if this is one, the release ships no value and none may be restated"
	case strings.Contains(value, r.Agent):
		c.Found = "the platform's own value"
		c.Remedy = "read the file of a cluster of the same release without the platform's configurations: " +
			"`aws emr create-cluster --release-label RELEASE --applications Name=Spark --use-default-roles --instance-type m5.xlarge`"
	case value != r.Values[key]:
		c.Found = value
		c.Remedy = "restate this value for the release in observe/shipped.go, or jobs lose the difference"
	default:
		c.Found, c.OK = "the same", true
	}
	return c
}

// sparkDefaults reads Spark's properties: a key, then white space, = or :, then
// the value (Spark reads the file with java.util.Properties).
func sparkDefaults(file io.Reader) (map[string]string, error) {
	out := map[string]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20) // class paths are long
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		end := strings.IndexAny(line, " \t=:")
		if end < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		out[line[:end]] = strings.TrimSpace(strings.TrimLeft(line[end:], " \t=:"))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read spark-defaults: %w", err)
	}
	return out, nil
}
