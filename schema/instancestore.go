package schema

import "github.com/emr-observatory/emr-observatory/schema/facts"

// EncryptsInstanceStore reports whether EMR encrypts the instance stores of a type,
// with LUKS. NVMe SSDs encrypt themselves, whatever EMR is told (EMR Management
// Guide, "Encryption options", "Instance store encryption").
func EncryptsInstanceStore(instanceType string) bool {
	t, _ := facts.InstanceTypeNamed(instanceType)
	return t.Stores != nil && (!t.Stores.NVMe || t.Stores.Type != "ssd")
}
