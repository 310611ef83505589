package platform

// Forms of secrets that are recognised wherever they occur, in the syntax of RE2.
const (
	// AWSAccessKeyID matches ids of AWS access keys (IAM User Guide, "Unique identifiers").
	AWSAccessKeyID = `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`
	// PEMPrivateKey matches the first line of private keys in PEM (RFC 7468).
	PEMPrivateKey = `-----BEGIN [A-Z ]*PRIVATE KEY-----`
	// JSONWebToken matches signed tokens (RFC 7519).
	JSONWebToken = `\beyJ[\w-]+\.[\w-]+\.[\w-]*`
	// URLPassword matches the user and the password of a URL, up to its host (RFC 3986,
	// 3.2.1). A password that begins with $, < or { stands for one.
	URLPassword = `\w://[^/\s:@"'?#]*:[^\s/@"'$<{*][^\s/@"']*@`
	// URLToken matches the same of a web address with a token alone. Azure's own schemes
	// have a container there.
	URLToken = `\bhttps?://[A-Za-z0-9_~.-]{20,}@`
)
