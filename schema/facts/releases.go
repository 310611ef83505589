package facts

import (
	_ "embed" // the data files
	"slices"
	"sync"
)

// Releases is the file of EMR's releases and their applications.
type Releases struct {
	Source       string        `json:"source"`
	Date         string        `json:"date"` // when somebody read the source
	Refresh      string        `json:"refresh"`
	Releases     []Release     `json:"releases"` // oldest first
	Applications []Application `json:"applications"`
}

// Release is a release of EMR.
type Release struct {
	Label        string `json:"release"`
	EndOfSupport string `json:"endOfSupport"` // the first day without support
	EndOfLife    string `json:"endOfLife"`    // from then on EMR may remove the release
}

// Application is one that EMR installs.
type Application struct {
	Name string `json:"application"`
	// Bundled ones come with others (Hudi with Spark, Hive or Presto) or by a
	// classification (delta-defaults, iceberg-defaults), not by name.
	Bundled  bool     `json:"bundled,omitempty"`
	Versions []string `json:"versions"` // by release, in the file's order; "" = the release lacks it
}

//go:embed releases.json
var releasesJSON []byte

// ReleaseFile returns the file of releases.
var ReleaseFile = sync.OnceValue(func() Releases { return parse[Releases]("releases.json", releasesJSON) })

// ReleaseLabelled returns the release with a label such as emr-7.10.0.
func ReleaseLabelled(label string) (Release, bool) {
	releases := ReleaseFile().Releases
	i := slices.IndexFunc(releases, func(r Release) bool { return r.Label == label })
	if i < 0 {
		return Release{}, false
	}
	return releases[i], true
}

// ReleasesOf returns the labels of the releases that install an application by name,
// oldest first.
func ReleasesOf(application string) []string {
	file := ReleaseFile()
	i := slices.IndexFunc(file.Applications, func(a Application) bool { return a.Name == application && !a.Bundled })
	if i < 0 {
		return nil
	}
	var out []string
	for n, version := range file.Applications[i].Versions {
		if version != "" {
			out = append(out, file.Releases[n].Label)
		}
	}
	return out
}
