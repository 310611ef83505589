package record

// lakeFillers covers Glue's databases and tables, and the workgroups of Athena.
func lakeFillers() map[string]filler {
	return map[string]filler{
		"aws:glue/catalogDatabase:CatalogDatabase": func(d *draft) error {
			d.setDefault("catalogId", d.account.ID)
			d.setID(d.text("catalogId") + ":" + d.text("name"))
			d.setDefault("arn", d.regionalARN("glue", "database/"+d.text("name")))
			d.setEmpty("locationUri")
			// Glue gives everybody whom IAM allows all rights, unless Lake Formation is in use.
			d.setDefault("createTableDefaultPermissions", []any{map[string]any{
				"permissions": []any{"ALL"}, "principal": map[string]any{"dataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"},
			}})
			return nil
		},
		"aws:glue/catalogTable:CatalogTable": func(d *draft) error {
			d.setDefault("catalogId", d.account.ID)
			d.setID(d.text("catalogId") + ":" + d.text("databaseName") + ":" + d.text("name"))
			d.setDefaults(result{
				"arn": d.regionalARN("glue", "table/"+d.text("databaseName")+"/"+d.text("name")), "partitionIndices": []any{},
			})
			return nil
		},
		"aws:athena/workgroup:Workgroup": func(d *draft) error {
			d.setID(d.text("name"))
			d.setDefaults(result{"arn": d.regionalARN("athena", "workgroup/"+d.id), "state": "ENABLED", "forceDestroy": false})
			return nil
		},
	}
}
