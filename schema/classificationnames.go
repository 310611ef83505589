package schema

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkClassificationNames warns of classifications that differ little from one that EMR
// has: it refuses a name that it does not know, after minutes. A name that is unlike all
// of the list passes, since a later release may have it, and so does one of log4j2, to
// which releases move one application after the other.
func checkClassificationNames(l *violation.List, path string, list []Configuration) {
	for i, c := range list {
		near := nearest(c.Classification, facts.Classifications())
		l.Warn(near == "" || strings.HasSuffix(c.Classification, "-log4j2"), pathOf(path, i)+".classification", c.Classification,
			"should be a classification that EMR has: it refuses others when the cluster starts", "if "+near+" is meant, write that")
	}
}
