package record

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// Call answers a function of the AWS package from what the account knows. The
// arguments must have been checked. A function that cannot be answered without
// a real account is an error that says so.
func (a *Account) Call(token string, args resource.PropertyMap) (resource.PropertyMap, error) {
	f, ok := functions[token]
	if !ok {
		return nil, fmt.Errorf("%s has no answer in the local cloud", token)
	}
	answer, err := f(a, catalog.Plain(args))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", token, err)
	}
	return resource.NewPropertyMapFromMap(answer), nil
}

type answer = map[string]any

//nolint:gochecknoglobals // one table, read-only
var functions = map[string]func(a *Account, in map[string]any) (answer, error){
	"aws:index/getRegion:getRegion": func(a *Account, _ map[string]any) (answer, error) {
		r := a.Region()
		return answer{"id": r, "name": r, "endpoint": "ec2." + r + ".amazonaws.com", "description": r}, nil
	},
	"aws:index/getCallerIdentity:getCallerIdentity": func(a *Account, _ map[string]any) (answer, error) {
		return answer{"id": a.ID, "accountId": a.ID, "arn": "arn:aws:iam::" + a.ID + ":user/local", "userId": "AIDALOCAL"}, nil
	},
	"aws:index/getPartition:getPartition": func(*Account, map[string]any) (answer, error) {
		return answer{"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}, nil
	},
	"aws:index/getAvailabilityZones:getAvailabilityZones": zones,
	"aws:index/getDefaultTags:getDefaultTags": func(a *Account, _ map[string]any) (answer, error) {
		tags := answer{}
		for k, v := range a.DefaultTags() {
			tags[k] = v
		}
		return answer{"id": "aws", "tags": tags}, nil
	},
	"aws:index/getServicePrincipal:getServicePrincipal": func(a *Account, in map[string]any) (answer, error) {
		service, _ := in["serviceName"].(string)
		return answer{"id": service, "name": service + ".amazonaws.com", "serviceName": service, "suffix": "amazonaws.com", "region": a.Region()}, nil
	},
	"aws:ec2/getAmi:getAmi":               image,
	"aws:ec2/getSubnet:getSubnet":         lookupSubnet,
	"aws:ec2/getPrefixList:getPrefixList": prefixList,
	"aws:ec2/getManagedPrefixList:getManagedPrefixList": func(a *Account, in map[string]any) (answer, error) {
		list, err := prefixList(a, in)
		delete(list, "cidrBlocks")
		delete(list, "prefixListId")
		return list, err
	},
	"aws:ec2/getInstanceType:getInstanceType": lookupInstanceType,
	"aws:emr/getReleaseLabels:getReleaseLabels": func(*Account, map[string]any) (answer, error) {
		labels := []any{"emr-7.10.0", "emr-7.9.0", "emr-7.8.0"}
		return answer{"id": "emr", "releaseLabels": labels}, nil
	},
	"aws:iam/getPolicyDocument:getPolicyDocument": policyDocument,
	"aws:iam/getPolicy:getPolicy": func(a *Account, in map[string]any) (answer, error) {
		arn, _ := in["arn"].(string)
		name, _ := in["name"].(string)
		if arn == "" {
			arn = "arn:aws:iam::aws:policy/" + name
		}
		name = arn[strings.LastIndex(arn, "/")+1:]
		return answer{"id": arn, "arn": arn, "name": name, "path": "/", "policy": "{}", "policyId": "ANPALOCAL", "description": "", "tags": answer{}, "attachmentCount": 0.0}, nil
	},
	"aws:s3/getCanonicalUserId:getCanonicalUserId": func(*Account, map[string]any) (answer, error) {
		return answer{"id": strings.Repeat("0", 64), "displayName": "local"}, nil
	},
	"aws:ssm/getParameter:getParameter": publicParameter,
}

func zones(a *Account, _ map[string]any) (answer, error) {
	var names, ids []any
	for _, letter := range []string{"a", "b", "c"} {
		names = append(names, a.Region()+letter)
		ids = append(ids, zoneID(a.Region()+letter))
	}
	return answer{"id": a.Region(), "names": names, "zoneIds": ids, "groupNames": []any{a.Region()}}, nil
}

// localImage stands for whatever image of an architecture is asked for. As in
// EC2, an image has one architecture.
func localImage(architecture string) string {
	if architecture == arm64 {
		return "ami-0123456789abcdef1"
	}
	return "ami-0123456789abcdef0"
}

const x8664, arm64 = "x86_64", "arm64" // as EC2 spells them

func image(a *Account, in map[string]any) (answer, error) {
	architecture := x8664
	if filters, ok := in["filters"].([]any); ok {
		for _, e := range filters {
			f, _ := e.(map[string]any)
			values, _ := f["values"].([]any)
			if f["name"] == "architecture" && len(values) > 0 {
				architecture, _ = values[0].(string)
			}
		}
	}
	id := localImage(architecture)
	return answer{
		"id": id, "imageId": id, "architecture": architecture, "arn": "arn:aws:ec2:" + a.Region() + "::image/" + id,
		"name": "al2023-ami-2023-local", "ownerId": "137112412989", "rootDeviceName": "/dev/xvda", "rootDeviceType": "ebs",
		"virtualizationType": "hvm", "state": "available", "imageType": "machine", "public": true, "enaSupport": true,
	}, nil
}

func lookupSubnet(a *Account, in map[string]any) (answer, error) {
	id, _ := in["id"].(string)
	s, ok := a.subnet(id)
	if !ok {
		return nil, fmt.Errorf("subnet %q does not exist in this account", id)
	}
	return answer{"id": id, "cidrBlock": s.network.String(), "vpcId": s.vpc, "availabilityZone": s.zone, "state": "available", "ownerId": a.ID}, nil
}

func prefixList(a *Account, in map[string]any) (answer, error) {
	name, _ := in["name"].(string)
	id, _ := in["prefixListId"].(string)
	return answer{"id": or(id, "pl-63a5400a"), "prefixListId": or(id, "pl-63a5400a"), "name": or(name, "com.amazonaws."+a.Region()+".s3"), "cidrBlocks": []any{"52.216.0.0/15"}}, nil
}

// lookupInstanceType knows only what a type's name says: the architecture of
// the family. Sizes are not invented.
func lookupInstanceType(_ *Account, in map[string]any) (answer, error) {
	name, _ := in["instanceType"].(string)
	family, _, _ := strings.Cut(name, ".")
	architecture := x8664
	if i := strings.IndexAny(family, "0123456789"); i >= 0 && strings.Contains(family[i:], "g") {
		architecture = arm64
	}
	return answer{"id": name, "instanceType": name, "supportedArchitectures": []any{architecture}, "currentGeneration": true}, nil
}

// publicParameter answers AWS's public parameters for images; any other
// parameter would be one that a real account holds.
func publicParameter(a *Account, in map[string]any) (answer, error) {
	name, _ := in["name"].(string)
	if !strings.HasPrefix(name, "/aws/service/") {
		return nil, fmt.Errorf("parameter %q is not a public parameter of AWS (/aws/service/…)", name)
	}
	value := "local"
	if strings.Contains(name, "ami") {
		architecture := x8664
		if strings.HasSuffix(name, arm64) {
			architecture = arm64
		}
		value = localImage(architecture)
	}
	return answer{"id": name, "name": name, "arn": "arn:aws:ssm:" + a.Region() + "::parameter" + name, "type": "String", "value": value, "insecureValue": value, "version": 1.0}, nil
}

// policyDocument writes a policy as the provider does: keys of each statement
// in the API's spelling, single values as strings.
func policyDocument(_ *Account, in map[string]any) (answer, error) {
	version, _ := in["version"].(string)
	doc := answer{"Version": or(version, "2012-10-17")}
	var list []any
	statements, _ := in["statements"].([]any)
	for _, e := range statements {
		s, _ := e.(map[string]any)
		list = append(list, statement(s))
	}
	doc["Statement"] = list
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	short, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return answer{"id": fmt.Sprint(len(text)), "json": string(text), "minifiedJson": string(short)}, nil
}

func statement(in map[string]any) answer {
	effect, _ := in["effect"].(string)
	out := answer{"Effect": or(effect, "Allow")}
	if sid, _ := in["sid"].(string); sid != "" {
		out["Sid"] = sid
	}
	for key, name := range map[string]string{"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource"} {
		if v, ok := in[key].([]any); ok && len(v) > 0 {
			out[name] = single(v)
		}
	}
	if p := principals(in["principals"]); p != nil {
		out["Principal"] = p
	}
	if p := principals(in["notPrincipals"]); p != nil {
		out["NotPrincipal"] = p
	}
	conditions, _ := in["conditions"].([]any)
	for _, e := range conditions {
		c, _ := e.(map[string]any)
		test, _ := c["test"].(string)
		variable, _ := c["variable"].(string)
		values, _ := c["values"].([]any)
		all, ok := out["Condition"].(answer)
		if !ok {
			all = answer{}
			out["Condition"] = all
		}
		one, ok := all[test].(answer)
		if !ok {
			one = answer{}
			all[test] = one
		}
		one[variable] = single(values)
	}
	return out
}

func principals(v any) any {
	list, _ := v.([]any)
	out := answer{}
	for _, e := range list {
		p, _ := e.(map[string]any)
		kind, _ := p["type"].(string)
		ids, _ := p["identifiers"].([]any)
		if kind == "*" {
			return "*"
		}
		out[kind] = single(ids)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func single(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	sorted := append([]any{}, values...)
	sort.Slice(sorted, func(i, j int) bool { return fmt.Sprint(sorted[i]) > fmt.Sprint(sorted[j]) })
	return sorted
}
