package record

import "strings"

// nameKey returns the type and name that only one resource may have, "" for
// types whose names need not be unique.
func nameKey(typ string, values map[string]any) string {
	if strings.HasPrefix(typ, "kubernetes:") {
		meta, _ := values["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		space, _ := meta["namespace"].(string)
		if name == "" {
			return ""
		}
		return typ + " " + namespacePrefix(typ, space) + name
	}
	name, _ := values[uniqueProperty(typ)].(string)
	if name == "" {
		return ""
	}
	return typ + " " + name
}

// uniqueProperty returns the property that must be unique in the account, "" if
// none must.
func uniqueProperty(typ string) string {
	switch typ {
	case "aws:s3/bucketV2:BucketV2":
		return "bucket"
	case "grafana:oss/folder:Folder", "grafana:oss/dataSource:DataSource":
		return "uid"
	case "aws:iam/role:Role", "aws:iam/policy:Policy", "aws:iam/instanceProfile:InstanceProfile",
		"aws:kms/alias:Alias", "aws:ssm/parameter:Parameter", "aws:scheduler/scheduleGroup:ScheduleGroup", "aws:sqs/queue:Queue",
		"aws:glue/catalogDatabase:CatalogDatabase", "aws:athena/workgroup:Workgroup",
		"aws:emr/securityConfiguration:SecurityConfiguration":
		return "name"
	default:
		return ""
	}
}
