package record

import "time"

// iamEntity returns the filler of IAM resources whose id is their name.
func iamEntity(kind, prefix string, more func(d *draft)) filler {
	return func(d *draft) error {
		d.setID(d.text("name"))
		d.setDefault("path", "/")
		d.setDefault("arn", d.iamARN(kind+d.text("path")+d.id))
		d.setDefault("uniqueId", newIAMID(prefix))
		d.setDefault("createDate", now())
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
			d.setDefault("maxSessionDuration", 3600)
			d.setDefault("managedPolicyArns", []any{})
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
			d.setDefault("policyId", newIAMID("ANPA"))
			d.setDefault("attachmentCount", 0)
			d.setDefault("description", "")
			return nil
		},
	}
}

// keyFillers covers KMS.
func keyFillers() map[string]filler {
	return map[string]filler{
		"aws:kms/key:Key": func(d *draft) error {
			d.setID(newUUID())
			d.setDefault("keyId", d.id)
			d.setDefault("arn", d.regionalARN("kms", "key/"+d.id))
			d.setDefault("customerMasterKeySpec", "SYMMETRIC_DEFAULT")
			d.setDefault("keyUsage", "ENCRYPT_DECRYPT")
			d.setDefault("multiRegion", false)
			d.setDefault("isEnabled", true)
			d.setDefault("enableKeyRotation", false)
			d.setDefault("description", "")
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
