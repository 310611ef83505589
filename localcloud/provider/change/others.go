package change

// otherPolicies are those of the packages beside AWS and Kubernetes, from the
// providers' schemas.
//
//nolint:gochecknoglobals // one table, read-only
var otherPolicies = map[string]policy{
	"grafana:oss/folder:Folder":                           {replace: []string{"uid", "orgId"}},
	"grafana:oss/dataSource:DataSource":                   {replace: []string{"uid", "orgId"}},
	"grafana:oss/dashboard:Dashboard":                     {replace: []string{"orgId"}},
	"grafana:oss/serviceAccountToken:ServiceAccountToken": {inPlace: []string{}},

	// A key or a certificate is made once: any edit makes another.
	"tls:index/privateKey:PrivateKey":               {inPlace: []string{}},
	"tls:index/certRequest:CertRequest":             {inPlace: []string{}},
	"tls:index/selfSignedCert:SelfSignedCert":       {inPlace: []string{"earlyRenewalHours"}},
	"tls:index/locallySignedCert:LocallySignedCert": {inPlace: []string{"earlyRenewalHours"}},
	"random:index/randomPassword:RandomPassword":    {inPlace: []string{}},
	"random:index/randomString:RandomString":        {inPlace: []string{}},
	"random:index/randomId:RandomId":                {inPlace: []string{}},
	"random:index/randomPet:RandomPet":              {inPlace: []string{}},
	"random:index/randomInteger:RandomInteger":      {inPlace: []string{}},
	"random:index/randomUuid:RandomUuid":            {inPlace: []string{}},
	"random:index/randomBytes:RandomBytes":          {inPlace: []string{}},

	"command:local:Command": {replace: []string{"triggers"}},
}
