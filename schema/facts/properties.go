package facts

import (
	_ "embed" // the data files
	"slices"
	"sync"
)

// Properties is the file of the properties that applications know.
type Properties struct {
	Source          string           `json:"source"`
	Date            string           `json:"date"` // of the newest of the sources
	Refresh         string           `json:"refresh"`
	Sensitive       []string         `json:"sensitive"` // patterns of names that hold secrets
	Classifications []Classification `json:"classifications"`
}

// Classification has the names of the properties of one of EMR's classifications, and
// with it of one file on the nodes.
type Classification struct {
	Name       string   `json:"classification"`
	Properties []string `json:"properties"` // sorted
}

//go:embed properties.json
var propertiesJSON []byte

var propertyFile = sync.OnceValue(func() Properties { return parse[Properties]("properties.json", propertiesJSON) })

// PropertiesOf returns the sorted names of the properties that the application of a
// classification knows; nil if the file does not have the classification.
func PropertiesOf(classification string) []string {
	all := propertyFile().Classifications
	i := slices.IndexFunc(all, func(c Classification) bool { return c.Name == classification })
	if i < 0 {
		return nil
	}
	return all[i].Properties
}

// SensitivePatterns returns the expressions with which Hadoop and Spark find names that
// hold secrets. They find them anywhere in a name.
func SensitivePatterns() []string { return propertyFile().Sensitive }
