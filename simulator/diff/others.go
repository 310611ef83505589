package diff

// otherPolicies covers the packages other than AWS and Kubernetes, after the
// providers' schemas.
func otherPolicies() map[string]policy {
	return map[string]policy{
		"grafana:oss/folder:Folder":         replaceOn("uid", "orgId"),
		"grafana:oss/dataSource:DataSource": replaceOn("uid", "orgId"),
		"grafana:oss/dashboard:Dashboard":   replaceOn("orgId"),

		// Keys, certificates and random values are generated once: an edit generates
		// new ones.
		"tls:index/privateKey:PrivateKey":               immutable(),
		"tls:index/certRequest:CertRequest":             immutable(),
		"tls:index/selfSignedCert:SelfSignedCert":       updateOnly("earlyRenewalHours"),
		"tls:index/locallySignedCert:LocallySignedCert": updateOnly("earlyRenewalHours"),
		"random:index/randomPassword:RandomPassword":    immutable(),
		"random:index/randomId:RandomId":                immutable(),

		"command:local:Command": replaceOn("triggers"),
	}
}
