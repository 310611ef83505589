package schema

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// openPrefixes begin properties whose last part is any name (Spark's Configuration
// page; Configuring Spark catalogs), so that no list has them.
func openPrefixes() []string {
	return []string{
		"spark.executorEnv.", "spark.hadoop.", "spark.yarn.appMasterEnv.", "spark.sql.catalog.", "spark.metrics.conf.",
		"spark.kubernetes.", "spark.mesos.",
	}
}

// checkPropertyNames warns of properties that differ little from one that the
// application of the classification knows. EMR writes them into the application's file,
// which ignores them.
func checkPropertyNames(l *violation.List, s settings) {
	s.each(func(classification, property string, v setting) {
		known := facts.PropertiesOf(knownAs(classification))
		near := nearest(property, known)
		l.Warn(near == "", v.path, violation.Hidden, "should have a name that the application knows: it ignores "+property,
			"if "+near+" is meant, write that")
	})
}

// knownAs returns the classification whose names another shares: Spark reads Hive's
// file too (EMR Release Guide, "Configure Spark").
func knownAs(classification string) string {
	if classification == "spark-hive-site" {
		return "hive-site"
	}
	return classification
}

// nearest returns the known name that somebody has likely misspelt, or "": one in which
// only case and separators differ, or two characters at most.
func nearest(property string, known []string) string {
	for _, prefix := range openPrefixes() {
		if strings.HasPrefix(property, prefix) {
			return ""
		}
	}
	if _, found := slices.BinarySearch(known, property); found {
		return ""
	}
	return decode.Nearest(property, known, decode.MostEdits)
}
