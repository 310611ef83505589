package panel

import "github.com/grafana/grafana-foundation-sdk/go/units"

// Unit is a Grafana unit. A panel of lines or traces has UnitNone.
type Unit string

// The units in use. Shares are 0 to 1, never 0 to 100.
const (
	UnitNone          Unit = units.NoUnit
	UnitCount         Unit = units.Short
	UnitShare         Unit = units.PercentUnit
	UnitBytes         Unit = units.BytesIEC
	UnitMebibytes     Unit = units.Mebibytes // Hadoop's MB are MiB
	UnitBitsPerSecond Unit = units.BitsPerSecondSI
	UnitBytesPerSec   Unit = units.BytesPerSecondIEC
	UnitPerSecond     Unit = units.CountsPerSecond
	UnitSeconds       Unit = units.Seconds
	UnitMilliseconds  Unit = units.Milliseconds
	UnitNanoseconds   Unit = units.Nanoseconds
	UnitCores         Unit = "suffix: cores"
	UnitTimes         Unit = "suffix: ×"       // of a ratio that may be above 1
	UnitTime          Unit = units.DatetimeISO // of milliseconds since 1970
)
