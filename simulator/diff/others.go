package diff

// otherPolicies covers the packages other than AWS and Kubernetes, after the
// providers' schemas.
func otherPolicies() map[string]policy {
	return map[string]policy{
		"grafana:oss/folder:Folder":                           replaceOn("uid", "orgId"),
		"grafana:oss/dataSource:DataSource":                   replaceOn("uid", "orgId"),
		"grafana:oss/dashboard:Dashboard":                     replaceOn("orgId"),
		"grafana:oss/serviceAccountToken:ServiceAccountToken": immutable(),

		// Keys, certificates and random values are generated once: an edit generates
		// new ones.
		"tls:index/privateKey:PrivateKey":               immutable(),
		"tls:index/certRequest:CertRequest":             immutable(),
		"tls:index/selfSignedCert:SelfSignedCert":       updateOnly("earlyRenewalHours"),
		"tls:index/locallySignedCert:LocallySignedCert": updateOnly("earlyRenewalHours"),
		"random:index/randomPassword:RandomPassword":    immutable(),
		"random:index/randomString:RandomString":        immutable(),
		"random:index/randomId:RandomId":                immutable(),
		"random:index/randomPet:RandomPet":              immutable(),
		"random:index/randomInteger:RandomInteger":      immutable(),
		"random:index/randomUuid:RandomUuid":            immutable(),
		"random:index/randomBytes:RandomBytes":          immutable(),

		"command:local:Command": replaceOn("triggers"),
	}
}
