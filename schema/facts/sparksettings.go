package facts

import (
	_ "embed" // the data files
	"sync"
)

// SparkSettings is the file of the values that Spark takes of its settings.
type SparkSettings struct {
	Source   string         `json:"source"`
	Date     string         `json:"date"` // of the source
	Refresh  string         `json:"refresh"`
	Settings []SparkSetting `json:"settings"` // sorted by name; those without any text are left out
}

// Types of Spark's settings; others are int, of 32 bits.
const (
	TypeBoolean  = "boolean"
	TypeLong     = "long" // 64 bits
	TypeDouble   = "double"
	TypeBytes    = "bytes"
	TypeDuration = "duration"
	TypeChoice   = "choice"
)

// SparkSetting says what values Spark takes of a setting.
type SparkSetting struct {
	Name    string   `json:"setting"`
	Type    string   `json:"type"`
	Unit    string   `json:"unit,omitempty"`   // of a size or duration that is a number alone
	Min     string   `json:"min,omitempty"`    // in that unit; > before it if it is refused itself
	Max     string   `json:"max,omitempty"`    // the same, with <
	Values  []string `json:"values,omitempty"` // of a choice
	AnyCase bool     `json:"anyCase,omitempty"`
}

//go:embed sparksettings.json
var sparkSettingsJSON []byte

var sparkSettingFile = sync.OnceValue(func() SparkSettings {
	return parse[SparkSettings]("sparksettings.json", sparkSettingsJSON)
})

// SparkSettingNamed returns what Spark takes of a setting; false if it takes any text, or
// if Spark has no such setting.
func SparkSettingNamed(name string) (SparkSetting, bool) {
	return named(sparkSettingFile().Settings, name, func(s SparkSetting) string { return s.Name })
}
