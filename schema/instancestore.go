package schema

import (
	"regexp"
	"strings"
)

// instanceStores matches the families with disks of their own: those whose name has
// a d after the generation (EC2 User Guide, "Instance type naming conventions"), and
// those that have always had them ("Instance store volumes").
var instanceStores = regexp.MustCompile(
	`^[a-z]+\d+[a-z]*d[a-z]*$|^(?:c1|c3|d2|d3|d3en|dl1|dl2q|f1|f2|g2|g5|g6|g6e|gr6|h1|i\d+[a-z]*|im4gn|is4gen|` +
		`m1|m2|m3|p5|p5e|p5en|p6|r3|trn\d[a-z]*|x1|x1e)$`)

// HasInstanceStore reports whether instances of a type have disks of their own
// besides EBS volumes.
func HasInstanceStore(instanceType string) bool {
	family, _, _ := strings.Cut(instanceType, ".")
	return instanceStores.MatchString(family)
}
