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
		"aws:iam/user:User": func(d *draft) error {
			err := iamEntity(
				"user", "AIDA", nil,
			)(d)
			delete(d.out, "createDate")
			return err
		},
		"aws:iam/rolePolicy:RolePolicy": joinedID("role", "name"),
		"aws:iam/userPolicy:UserPolicy": joinedID("user", "name"),
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment": func(d *draft) error {
			d.setID(d.text("role") + "-" + randomString("0123456789", 26))
			return nil
		},
		"aws:iam/userPolicyAttachment:UserPolicyAttachment": func(d *draft) error {
			d.setID(d.text("user") + "-" + randomString("0123456789", 26))
			return nil
		},
		"aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive": joinedID("roleName"),
		"aws:iam/rolePoliciesExclusive:RolePoliciesExclusive":                   joinedID("roleName"),
		"aws:iam/policyAttachment:PolicyAttachment":                             joinedID("name"),
		"aws:iam/policy:Policy": func(d *draft) error {
			d.setDefault("path", "/")
			d.setDefault("arn", d.iamARN("policy"+d.text("path")+d.text("name")))
			d.setID(d.text("arn"))
			d.setDefault("policyId", newIAMID("ANPA"))
			d.setDefault("attachmentCount", 0)
			d.setDefault("description", "")
			return nil
		},
		"aws:iam/serviceLinkedRole:ServiceLinkedRole": func(d *draft) error {
			service := d.text("awsServiceName")
			d.setDefault("name", "AWSServiceRoleFor"+randomHex(8))
			d.setDefault("path", "/aws-service-role/"+service+"/")
			d.setDefault("arn", d.iamARN("role"+d.text("path")+d.text("name")))
			d.setID(d.text("arn"))
			d.setDefault("uniqueId", newIAMID("AROA"))
			d.setDefault("createDate", now())
			return nil
		},
		"aws:iam/openIdConnectProvider:OpenIdConnectProvider": func(d *draft) error {
			d.setDefault("arn", d.iamARN("oidc-provider/"+d.text("url")))
			d.setID(d.text("arn"))
			return nil
		},
		"aws:iam/accessKey:AccessKey": accessKey,
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
		"aws:kms/keyPolicy:KeyPolicy": joinedID("keyId"),
		"aws:kms/grant:Grant": func(d *draft) error {
			d.setDefault("grantId", randomHex(64))
			d.setID(d.text("keyId") + ":" + d.text("grantId"))
			d.setDefault("grantToken", randomHex(128))
			return nil
		},
	}
}

func accessKey(d *draft) error {
	d.setID("AKIA" + randomString(upperDigits, 16))
	d.setSecretDefault("secret", randomString(upperDigits+"abcdefghijklmnopqrstuvwxyz", 40))
	d.setDefault("status", "Active")
	d.setDefault("createDate", now())
	for _, none := range []string{"encryptedSecret", "encryptedSesSmtpPasswordV4", "keyFingerprint", "sesSmtpPasswordV4"} {
		d.setDefault(none, "")
	}
	return nil
}
