package platform

// Forms of secrets that are recognised wherever they occur, in the syntax of RE2.
const (
	// AWSAccessKeyID matches ids of AWS access keys (IAM User Guide, "Unique identifiers").
	AWSAccessKeyID = `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`
	// PEMPrivateKey matches the first line of private keys in PEM (RFC 7468).
	PEMPrivateKey = `-----BEGIN [A-Z ]*PRIVATE KEY-----`
)
