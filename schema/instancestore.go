package schema

import (
	"regexp"
	"strings"
)

// luksStores matches the families whose instance stores are no NVMe SSDs (EC2 User
// Guide, "Instance store volumes").
var luksStores = regexp.MustCompile(`^(?:c1|c3|d2|d3|d3en|g2|h1|hs1|i2|m1|m2|m3|r3|x1|x1e)$`)

// EncryptsInstanceStore reports whether EMR encrypts the instance stores of a type,
// with LUKS. NVMe SSDs encrypt themselves, whatever EMR is told (EMR Management
// Guide, "Encryption options", "Instance store encryption").
func EncryptsInstanceStore(instanceType string) bool {
	family, _, _ := strings.Cut(instanceType, ".")
	return luksStores.MatchString(family)
}
