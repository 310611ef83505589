package record

import "time"

// named is a filler for IAM resources that go by their name.
func named(kind, prefix string, more func(d *draft)) filler {
	return func(d *draft) error {
		d.identify(d.text("name"))
		d.otherwise("path", "/")
		d.otherwise("arn", d.global("iam", kind+d.text("path")+d.id))
		d.otherwise("uniqueId", iamID(prefix))
		d.otherwise("createDate", now())
		if more != nil {
			more(d)
		}
		return nil
	}
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// plainID is a filler for resources with nothing but an id made of inputs.
func plainID(keys ...string) filler {
	return func(d *draft) error {
		id := ""
		for i, k := range keys {
			if i > 0 {
				id += ":"
			}
			id += d.text(k)
		}
		d.identify(id)
		return nil
	}
}

func identityFillers() map[string]filler {
	return map[string]filler{
		"aws:iam/role:Role": named("role", "AROA", func(d *draft) {
			d.otherwise("maxSessionDuration", 3600)
			d.otherwise("managedPolicyArns", []any{})
		}),
		"aws:iam/instanceProfile:InstanceProfile": named("instance-profile", "AIPA", nil),
		"aws:iam/user:User":                       func(d *draft) error { err := named("user", "AIDA", nil)(d); delete(d.out, "createDate"); return err },
		"aws:iam/rolePolicy:RolePolicy":           plainID("role", "name"),
		"aws:iam/userPolicy:UserPolicy":           plainID("user", "name"),
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment": func(d *draft) error {
			d.identify(d.text("role") + "-" + random("0123456789", 26))
			return nil
		},
		"aws:iam/userPolicyAttachment:UserPolicyAttachment": func(d *draft) error {
			d.identify(d.text("user") + "-" + random("0123456789", 26))
			return nil
		},
		"aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive": plainID("roleName"),
		"aws:iam/rolePoliciesExclusive:RolePoliciesExclusive":                   plainID("roleName"),
		"aws:iam/policyAttachment:PolicyAttachment":                             plainID("name"),
		"aws:iam/policy:Policy": func(d *draft) error {
			d.otherwise("path", "/")
			d.otherwise("arn", d.global("iam", "policy"+d.text("path")+d.text("name")))
			d.identify(d.text("arn"))
			d.otherwise("policyId", iamID("ANPA"))
			d.otherwise("attachmentCount", 0)
			d.otherwise("description", "")
			return nil
		},
		"aws:iam/serviceLinkedRole:ServiceLinkedRole": func(d *draft) error {
			service := d.text("awsServiceName")
			d.otherwise("name", "AWSServiceRoleFor"+randomHex(8))
			d.otherwise("path", "/aws-service-role/"+service+"/")
			d.otherwise("arn", d.global("iam", "role"+d.text("path")+d.text("name")))
			d.identify(d.text("arn"))
			d.otherwise("uniqueId", iamID("AROA"))
			d.otherwise("createDate", now())
			return nil
		},
		"aws:iam/openIdConnectProvider:OpenIdConnectProvider": func(d *draft) error {
			d.otherwise("arn", d.global("iam", "oidc-provider/"+d.text("url")))
			d.identify(d.text("arn"))
			return nil
		},
		"aws:iam/accessKey:AccessKey": func(d *draft) error {
			d.identify("AKIA" + random(upperDigits, 16))
			d.secret("secret", random(upperDigits+"abcdefghijklmnopqrstuvwxyz", 40))
			d.otherwise("status", "Active")
			d.otherwise("createDate", now())
			for _, none := range []string{"encryptedSecret", "encryptedSesSmtpPasswordV4", "keyFingerprint", "sesSmtpPasswordV4"} {
				d.otherwise(none, "")
			}
			return nil
		},
		"aws:kms/key:Key": func(d *draft) error {
			d.identify(uuid())
			d.otherwise("keyId", d.id)
			d.otherwise("arn", d.arn("kms", "key/"+d.id))
			d.otherwise("customerMasterKeySpec", "SYMMETRIC_DEFAULT")
			d.otherwise("keyUsage", "ENCRYPT_DECRYPT")
			d.otherwise("multiRegion", false)
			d.otherwise("isEnabled", true)
			d.otherwise("enableKeyRotation", false)
			d.otherwise("description", "")
			d.otherwise("policy", `{"Version":"2012-10-17","Statement":[{"Sid":"Enable IAM User Permissions","Effect":"Allow","Principal":{"AWS":"`+d.global("iam", "root")+`"},"Action":"kms:*","Resource":"*"}]}`)
			return nil
		},
		"aws:kms/alias:Alias": func(d *draft) error {
			d.identify(d.text("name"))
			d.otherwise("arn", d.arn("kms", d.id))
			key := d.text("targetKeyId")
			if len(key) < 4 || key[:4] != "arn:" {
				key = d.arn("kms", "key/"+key)
			}
			d.always("targetKeyArn", key)
			return nil
		},
		"aws:kms/keyPolicy:KeyPolicy": plainID("keyId"),
		"aws:kms/grant:Grant": func(d *draft) error {
			d.otherwise("grantId", randomHex(64))
			d.identify(d.text("keyId") + ":" + d.text("grantId"))
			d.otherwise("grantToken", randomHex(128))
			return nil
		},
	}
}
