package controls

import (
	"regexp"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	typeInstance   = "aws:ec2/instance:Instance"
	typeInterface  = "aws:ec2/networkInterface:NetworkInterface"
	typeAddress    = "aws:ec2/eip:Eip"
	typeAddressOf  = "aws:ec2/eipAssociation:EipAssociation"
	typeVolume     = "aws:ebs/volume:Volume"
	typeProfile    = "aws:iam/instanceProfile:InstanceProfile"
	typeBackup     = "aws:backup/selection:Selection"
	typeDiskPolicy = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
)

func instanceRules() []Rule {
	instances := []string{typeInstance}
	return []Rule{
		{IDs: []string{"CKV_AWS_8", "AWS-0131"}, Requires: "An instance's root disk is encrypted with the stack's key",
			Types: instances, Check: encryptsRootDisk},
		{IDs: []string{"CKV_AWS_46", "AWS-0029"}, Requires: "User data holds no secret", Types: instances, Check: userDataWithoutSecrets},
		{IDs: []string{"CKV_AWS_79", "AWS-0028", "EC2.8"}, Requires: "The metadata service requires IMDSv2",
			Types: instances, Check: equals("metadataOptions.httpTokens", "required")},
		{IDs: []string{"CKV_AWS_341"}, Requires: "Metadata does not leave the instance",
			Types: instances, Check: equals("metadataOptions.httpPutResponseHopLimit", 1.0)},
		{IDs: []string{"CKV_AWS_88", "AWS-0009", "EC2.9"}, Requires: "An instance has no public address",
			Types: instances, Check: noPublicAddress},
		{IDs: []string{"CKV_AWS_126"}, Requires: "An instance is monitored in detail", Types: instances, Check: equals("monitoring", true)},
		{IDs: []string{"CKV_AWS_135"}, Requires: "An instance is EBS-optimized", Types: instances, Check: equals("ebsOptimized", true)},
		{IDs: []string{"CKV2_AWS_41"}, Requires: "An instance has a role", Types: instances, Check: hasRole},
		{IDs: []string{"CKV2_AWS_19"}, Requires: "An address belongs to a NAT gateway or an instance",
			Types: []string{typeAddress}, Check: addressInUse},
	}
}

func volumeRules() []Rule {
	volumes := []string{typeVolume}
	return []Rule{
		{IDs: []string{"CKV_AWS_3", "AWS-0026", "EC2.3"}, Requires: "A volume is encrypted", Types: volumes, Check: equals("encrypted", true)},
		{IDs: []string{"CKV_AWS_189", "AWS-0027"}, Requires: "… with the stack's own key", Types: volumes, Check: isStackKey("kmsKeyId")},
		{IDs: []string{"CKV2_AWS_9", "EC2.28"}, Requires: "A volume is backed up", Types: volumes, Check: backupPlanExists},
	}
}

// isStackKey requires the ARN of the stack's key at a path.
func isStackKey(path string) Check {
	return func(r Resource, all Resources) Judgement {
		key, found := all.output(typeKey, "arn", r.At(path))
		if !found {
			return unmet("%s %v is not the stack's key", path, r.At(path))
		}
		return met(key)
	}
}

func encryptsRootDisk(r Resource, all Resources) Judgement {
	if j := equals("rootBlockDevice.encrypted", true)(r, all); j.Violation != "" {
		return j
	}
	return isStackKey("rootBlockDevice.kmsKeyId")(r, all)
}

// credential matches AWS access keys, private keys and K3s tokens.
var credential = regexp.MustCompile(platform.AWSAccessKeyID + `|` + platform.PEMPrivateKey + `|\bK10[0-9a-f]{64}::`)

func userDataWithoutSecrets(r Resource, _ Resources) Judgement {
	if r.Secret["userData"] || r.Secret["userDataBase64"] {
		return unmet("user data contains a secret")
	}
	if r.At("userDataBase64") != nil {
		return unmet("userDataBase64 is not checked: use userData")
	}
	if found := credential.FindStringIndex(r.Text("userData")); found != nil {
		return unmet("user data contains a credential at byte %d", found[0])
	}
	return met()
}

func noPublicAddress(r Resource, all Resources) Judgement {
	if r.At("associatePublicIpAddress") == true {
		return unmet("associatePublicIpAddress is true")
	}
	for _, address := range all.OfType(typeAddress) {
		if address.At("instance") == r.ID || hasInterface(r, address.At("networkInterface")) {
			return unmet("it has address %s", address.Name)
		}
	}
	for _, a := range all.OfType(typeAddressOf) {
		if a.At("instanceId") == r.ID || hasInterface(r, a.At("networkInterfaceId")) {
			return unmet("it has the address of %s", a.Name)
		}
	}
	return met()
}

// hasInterface reports whether an instance has the network interface of this id.
func hasInterface(instance Resource, id any) bool {
	return id != nil && slices.ContainsFunc(instance.List("networkInterfaces"), func(i any) bool {
		return valueAt(i, "networkInterfaceId") == id
	})
}

func hasRole(r Resource, all Resources) Judgement {
	p, found := all.output(typeProfile, "name", r.At("iamInstanceProfile"))
	if !found || p.Text("role") == "" {
		return unmet("iamInstanceProfile %v is not an instance profile of this program with a role", r.At("iamInstanceProfile"))
	}
	return met(p)
}

func addressInUse(r Resource, all Resources) Judgement {
	if nat := all.With(typeNAT, "allocationId", r.ID); len(nat) > 0 {
		return met(nat...)
	}
	for _, a := range all.With(typeAddressOf, "allocationId", r.ID) {
		if a.At("instanceId") != nil || a.At("networkInterfaceId") != nil {
			return met(a)
		}
	}
	if r.At("instance") == nil && r.At("networkInterface") == nil {
		return unmet("no instance, network interface or NAT gateway uses it")
	}
	return met()
}

// backupPlanExists does not check which volumes a plan selects: the program has
// no plan yet.
func backupPlanExists(_ Resource, all Resources) Judgement {
	plans := all.OfType(typeBackup, typeDiskPolicy)
	if len(plans) == 0 {
		return unmet("the program has no backup plan or snapshot policy")
	}
	return met(plans...)
}
