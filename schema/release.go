package schema

import (
	"fmt"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// releaseLabels returns the releases that the program takes, oldest first. The oldest
// is 6.15.0, which has everything that the platform uses: IMDSv2 in all of EMR's parts
// (6.2), Spark's defaultJavaOptions (6.1) and the Spark that the plugin and the launcher
// are tested with.
func releaseLabels() []string {
	var out []string
	for _, r := range facts.ReleaseFile().Releases {
		out = append(out, r.Label)
	}
	return out
}

func isSupportedRelease(label string) bool {
	_, known := facts.ReleaseLabelled(label)
	return known
}

func releaseRule() Rule {
	labels := releaseLabels()
	r := oneOf(labels...)
	r.Text = fmt.Sprintf("must be a release of EMR on EC2 from %s to %s, the newest on %s", labels[0], labels[len(labels)-1],
		facts.ReleaseFile().Date)
	return r.with("", "choose one; releases of Spark alone, such as emr-spark-8.0.0, have other applications and paths")
}

// checkSupport warns of a release that AWS supports no more.
func checkSupport(l *violation.List, path, label string, now time.Time) {
	r, known := facts.ReleaseLabelled(label)
	if !known {
		return
	}
	today := now.UTC().Format(time.DateOnly)
	labels := releaseLabels()
	newest := labels[len(labels)-1]
	l.Warn(today < r.EndOfSupport, path, label,
		fmt.Sprintf("should be a release with support, which this one has not had since %s; from %s on EMR may remove it",
			r.EndOfSupport, r.EndOfLife), "use "+newest)
}

// applicationNames returns the applications that a release can install by name.
func applicationNames() []string {
	var out []string
	for _, a := range facts.ReleaseFile().Applications {
		if !a.Bundled {
			out = append(out, a.Name)
		}
	}
	return out
}

// checkApplication requires that a release has an application.
func checkApplication(l *violation.List, path, application, release string) {
	releases := facts.ReleasesOf(application)
	if len(releases) == 0 || !isSupportedRelease(release) {
		return // another rule's
	}
	span := application + " begins with " + releases[0]
	if releases[0] == releaseLabels()[0] {
		span = application + " ends with " + releases[len(releases)-1]
	}
	l.Require(slices.Contains(releases, release), path, application, "must be an application of "+release+": "+span,
		"remove it, or choose another release")
}
