package controls

import "regexp"

const (
	typeInstance   = "aws:ec2/instance:Instance"
	typeInterface  = "aws:ec2/networkInterface:NetworkInterface"
	typeAddress    = "aws:ec2/eip:Eip"
	typeVolume     = "aws:ebs/volume:Volume"
	typeProfile    = "aws:iam/instanceProfile:InstanceProfile"
	typeBackup     = "aws:backup/selection:Selection"
	typeDiskPolicy = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
)

func instanceRules() []Rule {
	instances := []string{typeInstance}
	return []Rule{
		{IDs: []string{"CKV_AWS_8", "AWS-0131"}, Wants: "An instance's root disk is encrypted with the stack's key", Types: instances, Check: rootDisk},
		{IDs: []string{"CKV_AWS_46", "AWS-0029"}, Wants: "User data holds no secret", Types: instances, Check: plainUserData},
		{IDs: []string{"CKV_AWS_79", "AWS-0028", "EC2.8"}, Wants: "Metadata is given by IMDSv2 only", Types: instances, Check: is("metadataOptions.httpTokens", "required")},
		{IDs: []string{"CKV_AWS_341"}, Wants: "Metadata goes no further than the instance itself", Types: instances, Check: is("metadataOptions.httpPutResponseHopLimit", 1.0)},
		{IDs: []string{"CKV_AWS_88", "AWS-0009", "EC2.9"}, Wants: "An instance has no public address", Types: instances, Check: noPublicAddress},
		{IDs: []string{"CKV_AWS_126"}, Wants: "An instance is monitored in detail", Types: instances, Check: is("monitoring", true)},
		{IDs: []string{"CKV_AWS_135"}, Wants: "An instance is EBS-optimized", Types: instances, Check: is("ebsOptimized", true)},
		{IDs: []string{"CKV2_AWS_41"}, Wants: "An instance has a role", Types: instances, Check: hasRole},
		{IDs: []string{"CKV2_AWS_19"}, Wants: "An address belongs to a NAT gateway or an instance", Types: []string{typeAddress}, Check: addressInUse},
	}
}

func volumeRules() []Rule {
	volumes := []string{typeVolume}
	return []Rule{
		{IDs: []string{"CKV_AWS_3", "AWS-0026", "EC2.3"}, Wants: "A volume is encrypted", Types: volumes, Check: is("encrypted", true)},
		{IDs: []string{"CKV_AWS_189", "AWS-0027"}, Wants: "… with the stack's own key", Types: volumes, Check: keyAt("kmsKeyId")},
		{IDs: []string{"CKV2_AWS_9", "EC2.28"}, Wants: "A volume is backed up", Types: volumes, Check: backedUp},
	}
}

// keyAt wants the stack's own key at a path.
func keyAt(path string) Check {
	return func(r Resource, all Resources) Judgement {
		key, found := all.output(typeKey, "arn", r.At(path))
		if !found {
			return unmet("%s %v is not the stack's key", path, r.At(path))
		}
		return met(key)
	}
}

func rootDisk(r Resource, all Resources) Judgement {
	if j := is("rootBlockDevice.encrypted", true)(r, all); j.Fault != "" {
		return j
	}
	return keyAt("rootBlockDevice.kmsKeyId")(r, all)
}

// credential finds what an access key of AWS, a private key or a Kubernetes
// token looks like.
var credential = regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bK10[0-9a-f]{64}::`)

func plainUserData(r Resource, _ Resources) Judgement {
	if r.Secret["userData"] || r.Secret["userDataBase64"] {
		return unmet("user data is made of a secret")
	}
	if r.At("userDataBase64") != nil {
		return unmet("userDataBase64 cannot be read here: use userData")
	}
	if found := credential.FindStringIndex(r.Text("userData")); found != nil {
		return unmet("user data holds a credential at byte %d", found[0])
	}
	return met()
}

func noPublicAddress(r Resource, all Resources) Judgement {
	if r.At("associatePublicIpAddress") == true {
		return unmet("associatePublicIpAddress is true")
	}
	for _, address := range all.OfType(typeAddress) {
		if address.At("instance") == r.ID {
			return unmet("address %s is the instance's", address.Name)
		}
		for _, i := range r.List("networkInterfaces") {
			if id := at(i, "networkInterfaceId"); id != nil && address.At("networkInterface") == id {
				return unmet("address %s is the interface's", address.Name)
			}
		}
	}
	return met()
}

func hasRole(r Resource, all Resources) Judgement {
	p, found := all.output(typeProfile, "name", r.At("iamInstanceProfile"))
	if !found || p.Text("role") == "" {
		return unmet("iamInstanceProfile %v is none of the program's with a role", r.At("iamInstanceProfile"))
	}
	return met(p)
}

func addressInUse(r Resource, all Resources) Judgement {
	if nat := all.With(typeNAT, "allocationId", r.ID); len(nat) > 0 {
		return met(nat...)
	}
	if r.At("instance") == nil && r.At("networkInterface") == nil {
		return unmet("is nobody's")
	}
	return met()
}

func backedUp(_ Resource, all Resources) Judgement {
	plans := all.OfType(typeBackup, typeDiskPolicy)
	if len(plans) == 0 {
		return unmet("no backup plan or snapshot policy selects it")
	}
	return met(plans...)
}
