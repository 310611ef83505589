package record

import "time"

// iamEntity returns the filler of IAM resources whose id is their name.
func iamEntity(kind, prefix string, more func(d *draft)) filler {
	return func(d *draft) error {
		d.setID(d.text("name"))
		d.setDefault("path", "/")
		d.setDefaults(result{"arn": d.iamARN(kind + d.text("path") + d.id), "uniqueId": newIAMID(prefix), "createDate": now()})
		if more != nil {
			more(d)
		}
		return nil
	}
}

// now returns the current time in the form of AWS's APIs.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// joinedID returns the filler of resources that have only an id, joined from inputs.
func joinedID(keys ...string) filler {
	return func(d *draft) error {
		id := ""
		for i, k := range keys {
			if i > 0 {
				id += ":"
			}
			id += d.text(k)
		}
		d.setID(id)
		return nil
	}
}

// identityFillers covers IAM.
func identityFillers() map[string]filler {
	return map[string]filler{
		"aws:iam/role:Role": iamEntity("role", "AROA", func(d *draft) {
			d.setDefaults(result{"maxSessionDuration": 3600, "managedPolicyArns": []any{}})
		}),
		"aws:iam/instanceProfile:InstanceProfile": iamEntity("instance-profile", "AIPA", nil),
		"aws:iam/rolePolicy:RolePolicy":           joinedID("role", "name"),
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment": func(d *draft) error {
			d.setID(d.text("role") + "-" + randomString("0123456789", 26))
			return nil
		},
		"aws:iam/policy:Policy": func(d *draft) error {
			d.setDefault("path", "/")
			d.setDefault("arn", d.iamARN("policy"+d.text("path")+d.text("name")))
			d.setID(d.text("arn"))
			d.setDefaults(result{"policyId": newIAMID("ANPA"), "attachmentCount": 0, "description": ""})
			return nil
		},
	}
}

// keyFillers covers KMS.
func keyFillers() map[string]filler {
	return map[string]filler{
		"aws:kms/key:Key": func(d *draft) error {
			d.setID(newUUID())
			d.setDefaults(result{
				"keyId": d.id, "arn": d.regionalARN("kms", "key/"+d.id), "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
				"keyUsage": "ENCRYPT_DECRYPT", "multiRegion": false, "isEnabled": true, "enableKeyRotation": false, "description": "",
			})
			d.setDefault("policy", `{"Version":"2012-10-17","Statement":[{"Sid":"Enable IAM User Permissions","Effect":"Allow",`+
				`"Principal":{"AWS":"`+d.iamARN("root")+`"},"Action":"kms:*","Resource":"*"}]}`)
			return nil
		},
		"aws:kms/alias:Alias": func(d *draft) error {
			d.setID(d.text("name"))
			d.setDefault("arn", d.regionalARN("kms", d.id))
			key := d.text("targetKeyId")
			if len(key) < 4 || key[:4] != "arn:" {
				key = d.regionalARN("kms", "key/"+key)
			}
			d.set("targetKeyArn", key)
			return nil
		},
	}
}
