package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

var releaseLabel = regexp.MustCompile(`^emr-(\d{1,2})\.(\d{1,2})\.(\d{1,2})$`)

// release is a minor version of EMR.
type release struct{ major, minor int }

// oldestRelease returns the oldest release that has everything that the platform
// uses: IMDSv2 in all of EMR's parts (6.2), Spark's defaultJavaOptions (6.1) and
// the Spark that the plugin and the launcher are tested with.
func oldestRelease() release { return release{6, 15} }

func (r release) label() string { return fmt.Sprintf("emr-%d.%d.0", r.major, r.minor) }

func (r release) compare(o release) int {
	return cmp.Or(cmp.Compare(r.major, o.major), cmp.Compare(r.minor, o.minor))
}

// releaseOf reads emr-X.Y.Z. Labels such as emr-spark-8.0.0 have other
// applications and paths.
func releaseOf(label string) (release, bool) {
	m := releaseLabel.FindStringSubmatch(label)
	if m == nil {
		return release{}, false
	}
	major, err1 := strconv.Atoi(m[1])
	minor, err2 := strconv.Atoi(m[2])
	return release{major, minor}, err1 == nil && err2 == nil
}

func isSupportedRelease(label string) bool {
	r, ok := releaseOf(label)
	return ok && r.compare(oldestRelease()) >= 0
}

// application is one that EMR can install.
type application struct {
	name         string
	first, final release // that have it; zero = unbounded
}

// applications returns the applications of EMR 6.15 to 7.x (EMR Release Guide,
// "Amazon EMR release 6.15.0", "Application versions in Amazon EMR 7.x releases",
// "Sqoop release history", "Apache MXNet").
func applications() []application {
	out := []application{
		{name: "AmazonCloudWatchAgent", first: release{7, 0}},
		{name: "MXNet", final: release{7, 2}},
		{name: "Sqoop", final: release{7, 4}},
	}
	for _, name := range []string{
		"Flink", "HBase", "HCatalog", "Hadoop", "Hive", "Hue", "JupyterEnterpriseGateway", "JupyterHub", "Livy", "Oozie", "Phoenix", "Pig",
		"Presto", spark, "TensorFlow", "Tez", "Trino", "Zeppelin", "ZooKeeper",
	} {
		out = append(out, application{name: name})
	}
	return out
}

func applicationNames() []string {
	var out []string
	for _, a := range applications() {
		out = append(out, a.name)
	}
	return out
}

func applicationNamed(name string) (application, bool) {
	for _, a := range applications() {
		if a.name == name {
			return a, true
		}
	}
	return application{}, false
}

// isIncludedIn reports whether a release has the application.
func (a application) isIncludedIn(label string) bool {
	r, ok := releaseOf(label)
	return ok && r.compare(a.first) >= 0 && (a.final == release{} || r.compare(a.final) <= 0)
}

// span describes in which releases the application exists.
func (a application) span() string {
	if a.final != (release{}) {
		return a.name + " ends with " + a.final.label()
	}
	return a.name + " begins with " + a.first.label()
}
