package record

import "strings"

// nameKey is the kind and name under which a resource must be alone, "" for
// kinds whose names need not be unique.
func nameKey(typ string, values map[string]any) string {
	if strings.HasPrefix(typ, "kubernetes:") {
		meta, _ := values["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		space, _ := meta["namespace"].(string)
		if name == "" {
			return ""
		}
		return typ + " " + namespaced(typ, space) + name
	}
	key, ok := uniqueNames[typ]
	if !ok {
		return ""
	}
	name, _ := values[key].(string)
	if name == "" {
		return ""
	}
	return typ + " " + name
}

// uniqueNames gives the property that must be unique in the account.
//
//nolint:gochecknoglobals // one table, read-only
var uniqueNames = map[string]string{
	"aws:s3/bucketV2:BucketV2":                            "bucket",
	"aws:iam/role:Role":                                   "name",
	"aws:iam/policy:Policy":                               "name",
	"aws:iam/instanceProfile:InstanceProfile":             "name",
	"aws:kms/alias:Alias":                                 "name",
	"aws:ssm/parameter:Parameter":                         "name",
	"aws:emr/securityConfiguration:SecurityConfiguration": "name",
	"aws:ec2/keyPair:KeyPair":                             "keyName",
	"aws:ec2/placementGroup:PlacementGroup":               "name",
	"grafana:oss/folder:Folder":                           "uid",
	"grafana:oss/dataSource:DataSource":                   "uid",
}
