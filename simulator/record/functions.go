package record

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Call computes the result of a function of the AWS package from what is known of the
// account. The arguments must have been checked. Call fails for functions that need a
// real account.
func (a *Account) Call(token string, args resource.PropertyMap) (resource.PropertyMap, error) {
	f, ok := functions()[token]
	if !ok {
		return nil, fmt.Errorf("call %s: the simulator has no answer; create the resource in the stack or set its value", token)
	}
	out, err := f(a, property.Plain(args))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", token, err)
	}
	return resource.NewPropertyMapFromMap(out), nil
}

// result has values by property name: the result of a function, or outputs of a resource.
type result = map[string]any

// functions lists the functions by token. Each Go function is named after its token.
func functions() map[string]func(a *Account, in map[string]any) (result, error) {
	return map[string]func(a *Account, in map[string]any) (result, error){
		"aws:index/getCallerIdentity:getCallerIdentity":             callerIdentity,
		"aws:index/getPartition:getPartition":                       partition,
		"aws:index/getAvailabilityZones:getAvailabilityZones":       availabilityZones,
		"aws:ec2/getVpc:getVpc":                                     lookupVPC,
		"aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions":               lookupDHCPOptions,
		"aws:ec2/getSubnet:getSubnet":                               lookupSubnet,
		"aws:ec2/getRouteTable:getRouteTable":                       lookupRouteTable,
		"aws:ec2/getPrefixList:getPrefixList":                       prefixList,
		"aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": instanceTypeOfferings,
		"aws:iam/getRoles:getRoles":                                 serviceRoles,
		"aws:iam/getInstanceProfile:getInstanceProfile":             instanceProfile,
		"aws:s3/getObject:getObject":                                lookupObject,
		"aws:ssm/getParameter:getParameter":                         lookupParameter,
	}
}

func callerIdentity(a *Account, _ map[string]any) (result, error) {
	return result{"id": a.ID, "accountId": a.ID, "arn": "arn:aws:iam::" + a.ID + ":user/local", "userId": "AIDALOCAL"}, nil
}

func partition(*Account, map[string]any) (result, error) {
	return result{"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}, nil
}

// instanceProfile describes an existing profile, whose role has its name.
func instanceProfile(a *Account, in map[string]any) (result, error) {
	name, _ := in["name"].(string)
	arn := func(kind string) string { return "arn:aws:iam::" + a.ID + ":" + kind + "/" + name }
	return result{
		"id": name, "name": name, "arn": arn("instance-profile"), "path": "/", "createDate": "2026-01-01T00:00:00Z",
		"roleArn": arn("role"), "roleName": name, "roleId": "AROALOCAL",
	}, nil
}

const simulatedSteps = `[{"name":"simulated","args":["true"]}]`

// lookupObject answers with a list of one step: the simulator keeps no objects, and a schedule's steps are all that the
// program reads.
func lookupObject(_ *Account, in map[string]any) (result, error) {
	return result{
		"id": fmt.Sprint(in["bucket"], "/", in["key"]), "bucket": in["bucket"], "key": in["key"], "contentType": "application/json",
		"body": simulatedSteps, "contentLength": float64(len(simulatedSteps)),
	}, nil
}

// serviceRoles lists the account's service-linked roles below a path. An account has
// that of spot instances unless LoseServiceRole was called.
func serviceRoles(a *Account, in map[string]any) (result, error) {
	if in["nameRegex"] != nil {
		return nil, errors.New("nameRegex is set: the simulator filters roles by pathPrefix only")
	}
	prefix, _ := in["pathPrefix"].(string)
	names, arns := []any{}, []any{}
	for name, service := range map[string]string{"AWSServiceRoleForEC2Spot": "spot.amazonaws.com"} {
		path := "/aws-service-role/" + service + "/"
		if strings.HasPrefix(path, prefix) && !of(a, a.lacking, service) {
			names, arns = append(names, name), append(arns, "arn:aws:iam::"+a.ID+":role"+path+name)
		}
	}
	return result{"id": a.Region(), "names": names, "arns": arns, "pathPrefix": prefix}, nil
}

// localImage returns the id of the only image of an architecture. As in EC2, an image
// has one architecture.
func localImage(architecture string) string {
	if architecture == arm64 {
		return "ami-0123456789abcdef1"
	}
	return "ami-0123456789abcdef0"
}

const x8664, arm64 = "x86_64", "arm64" // as EC2 spells them

func lookupSubnet(a *Account, in map[string]any) (result, error) {
	id, _ := in["id"].(string)
	s, ok := a.subnet(id)
	if !ok {
		return nil, fmt.Errorf("subnet %q does not exist in this account", id)
	}
	return result{
		"id": id, "cidrBlock": s.network.String(), "vpcId": s.vpc, "availabilityZone": s.zone, "state": "available", "ownerId": a.ID,
	}, nil
}

func prefixList(a *Account, in map[string]any) (result, error) {
	name, _ := in["name"].(string)
	id, _ := in["prefixListId"].(string)
	return result{
		"id": cmp.Or(id, "pl-63a5400a"), "prefixListId": cmp.Or(id, "pl-63a5400a"), "name": cmp.Or(name, "com.amazonaws."+a.Region()+".s3"),
		"cidrBlocks": []any{"52.216.0.0/15"},
	}, nil
}

// lookupParameter returns AWS's public parameters of images, and of every name that is an
// owner's a parameter that nobody but its owner knows. AWS's other parameters exist only
// in a real account.
func lookupParameter(a *Account, in map[string]any) (result, error) {
	name, _ := in["name"].(string)
	if !strings.HasPrefix(name, "/aws/service/") {
		return ownParameter(a, name)
	}
	value := "local"
	if strings.Contains(name, "ami") {
		architecture := x8664
		if strings.HasSuffix(name, arm64) {
			architecture = arm64
		}
		value = localImage(architecture)
	}
	return result{
		"id": name, "name": name, "arn": "arn:aws:ssm:" + a.Region() + "::parameter" + name, "type": "String", "value": value,
		"insecureValue": value, "version": 1.0,
	}, nil
}

// ownParameter stands for a SecureString that the account's owner has stored, or for a
// secret of Secrets Manager by its reference.
func ownParameter(a *Account, name string) (result, error) {
	if strings.HasPrefix(name, "/aws/") && !strings.HasPrefix(name, "/aws/reference/secretsmanager/") {
		return nil, fmt.Errorf("parameter %q is not a public parameter of AWS (/aws/service/…); the simulator has no others", name)
	}
	return result{
		"id": name, "name": name, "arn": "arn:aws:ssm:" + a.Region() + ":" + a.ID + ":parameter" + name, "type": "SecureString",
		"value": "value of " + name, "insecureValue": "", "version": 1.0, "withDecryption": true,
	}, nil
}
