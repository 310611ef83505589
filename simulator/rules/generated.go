package rules

import "github.com/emr-observatory/emr-observatory/simulator/generate"

// generatedRules cover the packages tls, random and command.
func generatedRules() []Rule {
	out := []Rule{
		enum("tls:index/privateKey:PrivateKey", "algorithm", "pulumi-tls PrivateKey", "ECDSA", "ecdsa", "RSA", "ECDSA", "ED25519"),
		enum("tls:index/privateKey:PrivateKey", "ecdsaCurve", "pulumi-tls PrivateKey", "P256", "P-256", "P224", "P256", "P384", "P521"),
		enum("command:local:Command", "logging", "pulumi-command Logging", "none", "all", "stdout", "stderr", "stdoutAndStderr", "none"),
		{Type: "random:index/randomId:RandomId", Path: "byteLength", Rule: "must be at least 1", Source: "pulumi-random RandomId",
			Holds: between(1, 1e6), Pass: 4.0, Fail: 0.0},
		{Type: "random:index/randomPassword:RandomPassword", Path: "length", Rule: "must be at least 1",
			Source: "pulumi-random RandomPassword", Holds: between(1, 1e6), Pass: 24.0, Fail: 0.0},
		{Type: "random:index/randomPassword:RandomPassword",
			Rule: "length must be at least minLower + minUpper + minNumeric + minSpecial", Source: "pulumi-random RandomPassword",
			Holds: onObject(lengthFitsMinimums), Pass: object{"length": 8.0, "minLower": 2.0},
			Fail: object{"length": 3.0, "minLower": 2.0, "minUpper": 2.0}},
	}
	for _, t := range []string{"tls:index/selfSignedCert:SelfSignedCert", "tls:index/locallySignedCert:LocallySignedCert"} {
		out = append(out,
			Rule{Type: t, Path: "allowedUses[*]", Rule: "must be a key usage such as cert_signing, digital_signature, server_auth",
				Source: "pulumi-tls", Holds: oneOf(generate.KeyUsages()...), Pass: "server_auth", Fail: "serverAuth"},
			Rule{Type: t, Path: "validityPeriodHours", Rule: "must be positive", Source: "pulumi-tls", Holds: between(0, 1e9), Pass: 87600.0,
				Fail: -1.0},
		)
	}
	return out
}

func lengthFitsMinimums(o object) bool {
	length, ok := numberField(o, "length")
	sum := 0.0
	for _, k := range []string{"minLower", "minUpper", "minNumeric", "minSpecial"} {
		n, _ := numberField(o, k)
		sum += n
	}
	return !ok || sum <= length
}
