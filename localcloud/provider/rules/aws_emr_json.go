package rules

import (
	"encoding/json"
	"regexp"
)

func emrJSONRules() []Rule {
	const source = "EMR Release Guide, Configure applications"
	good := `[{"Classification":"spark-defaults","Properties":{"spark.ui.port":"0"}}]`
	remedy := "write [{\"Classification\":…,\"Properties\":{…}}] with string values"
	rule := "must be a JSON list of {Classification, Properties, Configurations} in exactly that spelling, string values only, no empty Configurations"
	return []Rule{
		{Type: emrCluster, Path: "configurationsJson", Rule: rule, Remedy: remedy, Source: source, Holds: text(classifications), Pass: good, Fail: `[{"classification":"spark-defaults"}]`},
		{Type: emrCluster, Path: "configurationsJson", Rule: rule, Remedy: remedy, Source: source, Holds: text(classifications), Pass: good, Fail: `[{"Classification":"core-site","Properties":{"hadoop.prometheus.endpoint.enabled":true}}]`},
		{Type: emrCluster, Path: "configurationsJson", Rule: rule, Remedy: remedy, Source: source, Holds: text(classifications), Pass: good, Fail: `[{"Classification":"core-site","Configurations":[]}]`},
		{Type: emrTask, Path: "configurationsJson", Rule: rule, Remedy: remedy, Source: source, Holds: text(classifications), Pass: good, Fail: `{"Classification":"core-site"}`},
		{Type: emrCluster, Path: "configurationsJson", Rule: "must not carry a secret: DescribeCluster shows it in clear and it comes back masked", Remedy: "put secrets into Secrets Manager", Source: "terraform-provider-aws issue 12683", Holds: text(noCredential), Pass: good, Fail: `[{"Classification":"core-site","Properties":{"fs.s3a.secret.key":"x"}}]`},
	}
}

// classifications holds for a document that EMR takes as it is and gives back
// unchanged.
func classifications(s string) bool {
	var list []object
	return json.Unmarshal([]byte(s), &list) == nil && list != nil && classificationList(list)
}

func classificationList(list []object) bool {
	for _, c := range list {
		name, ok := str(c, "Classification")
		if !ok || name == "" || !only(c, "Classification", "Properties", "Configurations") || !stringsOnly(c["Properties"]) {
			return false
		}
		if nested, set := c["Configurations"]; set && !nestedList(nested) {
			return false
		}
	}
	return true
}

func nestedList(v any) bool {
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return false
	}
	list := make([]object, 0, len(items))
	for _, i := range items {
		o, ok := i.(object)
		if !ok {
			return false
		}
		list = append(list, o)
	}
	return classificationList(list)
}

func stringsOnly(v any) bool {
	if v == nil {
		return true
	}
	o, ok := v.(object)
	for _, e := range o {
		if _, s := e.(string); !s {
			return false
		}
	}
	return ok
}

//nolint:gochecknoglobals // compiled once
var credentialKey = regexp.MustCompile(`"[^"]*(secret[.-]?key|password|access[.-]?token)[^"]*"\s*:\s*"[^"]`)

func noCredential(s string) bool { return !credentialKey.MatchString(s) }

// securityConfiguration holds for a document whose first two levels EMR knows.
func securityConfiguration(s string) bool {
	o, ok := jsonObject(s)
	if !ok || len(o) == 0 {
		return false
	}
	parts := map[string][]string{
		"EncryptionConfiguration":              {"EnableInTransitEncryption", "EnableAtRestEncryption", "InTransitEncryptionConfiguration", "AtRestEncryptionConfiguration"},
		"InstanceMetadataServiceConfiguration": {"MinimumInstanceMetadataServiceVersion", "HttpPutResponseHopLimit"},
		"AuthenticationConfiguration":          {"KerberosConfiguration", "IdentityCenterConfiguration"},
		"AuthorizationConfiguration":           {"IAMConfiguration", "EmrFsConfiguration", "LakeFormationConfiguration", "RangerConfiguration"},
	}
	for key, v := range o {
		fields, known := parts[key]
		part, ok := v.(object)
		if !known || !ok || !only(part, fields...) {
			return false
		}
	}
	return encryption(o["EncryptionConfiguration"])
}

// encryption holds where both switches are stated and each that is on has its
// configuration.
func encryption(v any) bool {
	o, ok := v.(object)
	if !ok {
		return true
	}
	for toggle, part := range map[string]string{"EnableInTransitEncryption": "InTransitEncryptionConfiguration", "EnableAtRestEncryption": "AtRestEncryptionConfiguration"} {
		on, stated := o[toggle].(bool)
		if !stated || on && !isSet(o, part) {
			return false
		}
	}
	return true
}
