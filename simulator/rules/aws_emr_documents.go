package rules

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// configurationRules cover the JSON documents of clusters and task groups.
func configurationRules() []Rule {
	const good = `[{"Classification":"spark-defaults","Properties":{"spark.ui.port":"0"}}]`
	document := func(typ, fail string) Rule {
		return Rule{Type: typ, Path: "configurationsJson",
			Rule: "must be a JSON list of {Classification, Properties, Configurations} in exactly that spelling," +
				" string values only, no empty Configurations",
			Remedy: "write [{\"Classification\":…,\"Properties\":{…}}] with string values",
			Source: "EMR Release Guide, Configure applications", Holds: onString(isClassifications), Pass: good, Fail: fail}
	}
	return []Rule{
		dockerMountRule(),
		document(emrCluster, `[{"classification":"spark-defaults"}]`),
		document(emrCluster, `[{"Classification":"core-site","Properties":{"hadoop.prometheus.endpoint.enabled":true}}]`),
		document(emrCluster, `[{"Classification":"core-site","Configurations":[]}]`),
		document(emrTask, `{"Classification":"core-site"}`),
		{Type: emrCluster, Path: "configurationsJson",
			Rule:   "must not carry a secret: DescribeCluster shows it in clear and it comes back masked",
			Remedy: "put secrets into Secrets Manager", Source: "terraform-provider-aws issue 12683", Holds: onString(hasNoCredential),
			Pass: good, Fail: `[{"Classification":"core-site","Properties":{"fs.s3a.secret.key":"x"}}]`},
	}
}

// dockerMountRule is about containers of jobs that choose Docker.
func dockerMountRule() Rule {
	const pass = `[{"Classification":"yarn-site","Properties":{"yarn.nodemanager.runtime.linux.docker.default-ro-mounts":"/opt/a:/opt/a"}},` +
		`{"Classification":"container-executor","Properties":{},"Configurations":[` +
		`{"Classification":"docker","Properties":{"docker.allowed.ro-mounts":"/etc/passwd,/opt"}}]}]`
	return Rule{Type: emrCluster, Path: "configurationsJson",
		Rule:   "docker.allowed.ro-mounts must contain the source of each default-ro-mounts: YARN starts no container with another mount",
		Remedy: "set docker.allowed.ro-mounts in the classification docker of container-executor",
		Source: "Hadoop, Launching Applications Using Docker Containers", Holds: onString(areDefaultMountsAllowed), Pass: pass,
		Fail: strings.Replace(pass, "/etc/passwd,/opt\"", "/etc/passwd,/op\"", 1)}
}

// areDefaultMountsAllowed accepts a document that sets no default mounts, or allows
// the source of each: by its own path, or by that of a folder above it.
func areDefaultMountsAllowed(s string) bool {
	var list []struct {
		Classification string
		Properties     map[string]any
		Configurations []struct {
			Classification string
			Properties     map[string]any
		}
	}
	if json.Unmarshal([]byte(s), &list) != nil {
		return true // another rule's
	}
	var mounts, allowed string
	for _, c := range list {
		if v, ok := c.Properties["yarn.nodemanager.runtime.linux.docker.default-ro-mounts"].(string); ok {
			mounts = v
		}
		for _, nested := range c.Configurations {
			isDocker := c.Classification == "container-executor" && nested.Classification == "docker"
			if v, ok := nested.Properties["docker.allowed.ro-mounts"].(string); ok && isDocker {
				allowed = v
			}
		}
	}
	for mount := range strings.SplitSeq(mounts, ",") {
		source, _, _ := strings.Cut(mount, ":")
		isAllowed := func(folder string) bool {
			return folder != "" && strings.HasPrefix(source+"/", strings.TrimSuffix(folder, "/")+"/")
		}
		if source != "" && !slices.ContainsFunc(strings.Split(allowed, ","), isAllowed) {
			return false
		}
	}
	return true
}

// isClassifications accepts a document that EMR would return unchanged.
func isClassifications(s string) bool {
	var list []object
	return json.Unmarshal([]byte(s), &list) == nil && list != nil && areClassifications(list)
}

// areClassifications accepts classifications with only known keys and string values,
// at every level.
func areClassifications(list []object) bool {
	for _, c := range list {
		name, ok := stringField(c, "Classification")
		if !ok || name == "" || !hasOnlyKeys(c, "Classification", "Properties", "Configurations") || !hasOnlyStrings(c["Properties"]) {
			return false
		}
		if nested, set := c["Configurations"]; set && !areNestedClassifications(nested) {
			return false
		}
	}
	return true
}

func areNestedClassifications(v any) bool {
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
	return areClassifications(list)
}

func hasOnlyStrings(v any) bool {
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

var credentialKey = regexp.MustCompile(`"[^"]*(secret[.-]?key|password|access[.-]?token)[^"]*"\s*:\s*"[^"]`)

func hasNoCredential(s string) bool { return !credentialKey.MatchString(s) }

// isSecurityConfiguration accepts a document with only fields that EMR knows, in its
// first two levels.
func isSecurityConfiguration(s string) bool {
	o, ok := jsonObject(s)
	if !ok || len(o) == 0 {
		return false
	}
	parts := map[string][]string{
		"EncryptionConfiguration": {
			"EnableInTransitEncryption", "EnableAtRestEncryption", "InTransitEncryptionConfiguration", "AtRestEncryptionConfiguration",
		},
		"InstanceMetadataServiceConfiguration": {"MinimumInstanceMetadataServiceVersion", "HttpPutResponseHopLimit"},
		"AuthenticationConfiguration":          {"KerberosConfiguration", "IdentityCenterConfiguration"},
		"AuthorizationConfiguration": {
			"IAMConfiguration", "EmrFsConfiguration", "LakeFormationConfiguration", "RangerConfiguration",
		},
	}
	for key, v := range o {
		fields, known := parts[key]
		part, ok := v.(object)
		if !known || !ok || !hasOnlyKeys(part, fields...) {
			return false
		}
	}
	return isEncryptionComplete(o["EncryptionConfiguration"])
}

// isEncryptionComplete requires both switches to be set, and a configuration for
// each that is on.
func isEncryptionComplete(v any) bool {
	o, ok := v.(object)
	if !ok {
		return true
	}
	for toggle, part := range map[string]string{
		"EnableInTransitEncryption": "InTransitEncryptionConfiguration", "EnableAtRestEncryption": "AtRestEncryptionConfiguration",
	} {
		on, stated := o[toggle].(bool)
		if !stated || on && !isSet(o, part) {
			return false
		}
	}
	return true
}
