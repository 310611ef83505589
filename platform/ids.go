package platform

import "regexp"

// RegionPattern matches the names of AWS's regions, in the syntax of RE2.
const RegionPattern = `^[a-z]{2}(-[a-z]+)+-[0-9]$`

var (
	clusterID  = regexp.MustCompile(`^j-[0-9A-Z]+$`)
	stepID     = regexp.MustCompile(`^s-[0-9A-Z]+$`)
	regionName = regexp.MustCompile(RegionPattern)
	yarnID     = regexp.MustCompile(`^` + YARNApplicationID + `$`)
	sha256Hex  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	fileName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// IsClusterID reports whether s has the form of EMR's cluster ids. Telemetry may name
// anything as its cluster.
func IsClusterID(s string) bool { return clusterID.MatchString(s) }

// IsStepID reports whether s has the form of EMR's step ids.
func IsStepID(s string) bool { return stepID.MatchString(s) }

// IsYARNApplicationID reports whether s has the form of YARN's application ids.
func IsYARNApplicationID(s string) bool { return yarnID.MatchString(s) }

// IsRegion reports whether s has the form of the names of AWS's regions.
func IsRegion(s string) bool { return regionName.MatchString(s) }

// IsSHA256 reports whether s is a SHA-256 in lower-case hex.
func IsSHA256(s string) bool { return sha256Hex.MatchString(s) }

// IsFileName reports whether s is a file name that needs quotes neither in a shell nor
// in a URL.
func IsFileName(s string) bool { return fileName.MatchString(s) }
