package rules

import "github.com/emr-observatory/emr-observatory/simulator/generate"

// generatedRules cover the packages tls, random and command.
func generatedRules() []Rule {
	out := []Rule{
		{
			Type: "tls:index/privateKey:PrivateKey", Path: "algorithm", Rule: "must be RSA, ECDSA or ED25519",
			Source: "pulumi-tls PrivateKey", Holds: oneOf("RSA", "ECDSA", "ED25519"), Pass: "ECDSA", Fail: "ecdsa",
		},
		{
			Type: "tls:index/privateKey:PrivateKey", Path: "ecdsaCurve", Rule: "must be P224, P256, P384 or P521",
			Source: "pulumi-tls PrivateKey", Holds: oneOf("P224", "P256", "P384", "P521"), Pass: "P256", Fail: "P-256",
		},
		{
			Type: "command:local:Command", Path: "logging", Rule: "must be stdout, stderr, stdoutAndStderr or none",
			Source: "pulumi-command Logging", Holds: oneOf("stdout", "stderr", "stdoutAndStderr", "none"), Pass: "none", Fail: "all",
		},
		{
			Type: "random:index/randomId:RandomId", Path: "byteLength", Rule: "must be at least 1", Source: "pulumi-random RandomId",
			Holds: between(1, 1e6), Pass: 4.0, Fail: 0.0,
		},
		{
			Type: "random:index/randomPassword:RandomPassword", Path: "length", Rule: "must be at least 1",
			Source: "pulumi-random RandomPassword", Holds: between(1, 1e6), Pass: 24.0, Fail: 0.0,
		},
		{
			Type: "random:index/randomPassword:RandomPassword", Path: "",
			Rule: "length must be at least minLower + minUpper + minNumeric + minSpecial", Source: "pulumi-random RandomPassword",
			Holds: onObject(lengthFitsMinimums), Pass: object{"length": 8.0, "minLower": 2.0},
			Fail: object{"length": 3.0, "minLower": 2.0, "minUpper": 2.0},
		},
	}
	for _, t := range []string{"tls:index/selfSignedCert:SelfSignedCert", "tls:index/locallySignedCert:LocallySignedCert"} {
		out = append(out,
			Rule{
				Type: t, Path: "allowedUses[*]", Rule: "must be a key usage such as cert_signing, digital_signature, server_auth",
				Source: "pulumi-tls", Holds: oneOf(generate.KeyUsages()...), Pass: "server_auth", Fail: "serverAuth",
			},
			Rule{
				Type: t, Path: "validityPeriodHours", Rule: "must be positive", Source: "pulumi-tls", Holds: between(0, 1e9),
				Pass: 87600.0, Fail: -1.0,
			},
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
