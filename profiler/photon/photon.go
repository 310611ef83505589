// Package photon says which operators of Spark's physical plans Databricks' engine Photon runs, by
// what Databricks publishes. It knows operators only: an expression that Photon lacks, such as a
// rare function, also takes an operator away from it. What nothing is published about is unknown,
// and neither supported nor not.
package photon

import (
	_ "embed" // the operators
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Support is whether Photon runs an operator.
type Support string

// The values of Support.
const (
	Supported   Support = "supported"
	Unsupported Support = "unsupported"
	Unknown     Support = "unknown"
	None        Support = "none" // it has no work of its own: a wrapper, such as WholeStageCodegen
)

//go:embed operators.json
var raw []byte

// operator is an entry of operators.json.
type operator struct {
	Name    string  `json:"name"`
	Support Support `json:"support"`
	Source  string  `json:"source"`
	Prefix  bool    `json:"prefix"` // of the names of operators
	Note    string  `json:"note"`
}

// data is operators.json.
var data = func() (d struct {
	Retrieved string            `json:"retrieved"`
	Sources   map[string]string `json:"sources"`
	Operators []operator        `json:"operators"`
}) {
	if err := json.Unmarshal(raw, &d); err != nil {
		panic(fmt.Sprintf("read operators.json: %v", err)) // it is part of the program
	}
	if _, err := time.Parse(time.DateOnly, d.Retrieved); err != nil {
		panic(fmt.Sprintf("read operators.json: %v", err))
	}
	return d
}()

// exact are the operators by name.
var exact = func() map[string]operator {
	all := map[string]operator{}
	for _, o := range data.Operators {
		all[o.Name] = o
	}
	return all
}()

// maxKind is the length of the kinds of unknown operators, in bytes.
const maxKind = 80

// Classify returns the kind of an operator, without what is only in this plan, such as the name of
// a table, and whether Photon runs it.
func Classify(name string) (kind string, support Support) {
	name, _, _ = strings.Cut(name, "(")
	name = strings.TrimSpace(name)
	if o, known := exact[name]; known {
		return o.Name, o.Support
	}
	var best operator
	for _, o := range data.Operators {
		if o.Prefix && strings.HasPrefix(name, o.Name) && len(o.Name) > len(best.Name) {
			best = o
		}
	}
	switch {
	case best.Name == "Photon": // its own operators are kinds of their own
		return cut(name), best.Support
	case best.Name != "":
		return best.Name, best.Support
	case strings.HasPrefix(name, "Scan ") || strings.HasPrefix(name, "BatchScan "):
		words := strings.Fields(name) // without the table
		return cut(strings.Join(words[:min(2, len(words))], " ")), Unknown
	}
	return cut(name), Unknown
}

func cut(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxKind)], "") }

// Notebook reports whether the notebook that this project replaces counts an operator as one that
// Photon runs: every name that has none of nine in it, wrappers included.
func Notebook(name string) bool {
	for _, unsupported := range []string{
		"MapElements", "MapPartitions", "Scan csv", "Scan json", "PythonUDF", "ScalaUDF", "FlatMapGroupsInPandas", "DeserializeToObject",
		"SerializeFromObject",
	} {
		if strings.TrimSpace(name) == unsupported {
			return false
		}
	}
	return true
}
