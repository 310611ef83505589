package platform

// AccessSecret names the Secret with a workload's certificate and password.
func AccessSecret(w Workload) string { return string(w) + "-access" }

// Keys of an AccessSecret.
const (
	AccessCertificate = "tls.crt"
	AccessKey         = "tls.key"
	AccessCACert      = "ca.crt" // which signed AccessCertificate
	AccessPassword    = "password"
)

// StatusUser is the status server's only user.
const StatusUser = Name
