package check

import (
	"context"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// role asks IAM itself whether the nodes may fetch what the bootstrap action installs.
// Its simulation counts attached and inline policies, denials and boundaries.
func (e *examination) role(ctx context.Context) ([]Miss, error) {
	profile := path.Base(aws.ToString(e.attributes.IamInstanceProfile)) // a name or an ARN
	found, err := e.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &profile})
	if err != nil {
		return nil, fmt.Errorf("get instance profile %s: %w", profile, err)
	}
	if len(found.InstanceProfile.Roles) == 0 {
		return []Miss{{PartRole, "instance profile " + profile + " has none", "must have a role", "add one to the profile"}}, nil
	}
	role := found.InstanceProfile.Roles[0]
	var denied []string
	for _, access := range []struct {
		action, resource string
		context          []iamtypes.ContextEntry
	}{
		{"s3:GetObject", objectARN(e.Observe.Bootstrap.Path, e.Observe.NodePolicyARN), nil},
		{"kms:Decrypt", e.KMSKeyARN, throughS3(e.KMSKeyARN)},
	} {
		simulated, err := e.IAM.SimulatePrincipalPolicy(ctx, &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: role.Arn, ActionNames: []string{access.action}, ResourceArns: []string{access.resource},
			ContextEntries: access.context,
		})
		if err != nil {
			return nil, fmt.Errorf("simulate the policies of role %s: %w", aws.ToString(role.RoleName), err)
		}
		for _, result := range simulated.EvaluationResults {
			if result.EvalDecision != iamtypes.PolicyEvaluationDecisionTypeAllowed {
				denied = append(denied, fmt.Sprintf("%s on %s: %s", access.action, access.resource, result.EvalDecision))
			}
		}
	}
	if len(denied) == 0 {
		return nil, nil
	}
	name := aws.ToString(role.RoleName)
	return []Miss{{PartRole, name + ": " + strings.Join(denied, ", "), "must be allowed to read the platform's artifacts",
		fmt.Sprintf("run `aws iam attach-role-policy --role-name %s --policy-arn %s`", name, e.Observe.NodePolicyARN)}}, nil
}

// throughS3 is what a request of S3 for the use of a key says of itself. The policy asks for
// it, and the simulation knows of no context that it is not given.
func throughS3(keyARN string) []iamtypes.ContextEntry {
	parts := strings.SplitN(keyARN, ":", 5)
	if len(parts) < 5 {
		return nil
	}
	service := "s3." + parts[3] + ".amazonaws.com"
	if parts[1] == "aws-cn" {
		service += ".cn"
	}
	return []iamtypes.ContextEntry{{
		ContextKeyName: aws.String("kms:ViaService"), ContextKeyType: iamtypes.ContextKeyTypeEnumString, ContextKeyValues: []string{service},
	}}
}

// objectARN returns the ARN of an object of S3, in the partition of another ARN.
func objectARN(uri, other string) string {
	partition := "aws"
	if parts := strings.SplitN(other, ":", 3); len(parts) == 3 {
		partition = parts[1]
	}
	return "arn:" + partition + ":s3:::" + strings.TrimPrefix(uri, "s3://")
}

// route examines the way from the cluster's subnet to the control node. From the
// platform's own subnets there is one.
func (e *examination) route(ctx context.Context) ([]Miss, error) {
	subnet := e.subnet()
	if slices.Contains(e.SubnetIDs, subnet) {
		return nil, nil
	}
	remedy := fmt.Sprintf("start the cluster in a subnet of %s, such as %s", e.VPCID, strings.Join(e.SubnetIDs, " or "))
	if subnet == "" {
		return []Miss{{PartRoute, "no subnet yet", "must be in " + e.VPCID, "check again when the cluster has nodes"}}, nil
	}
	subnets, err := e.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}})
	if err != nil {
		return nil, fmt.Errorf("describe subnet %s: %w", subnet, err)
	}
	for _, s := range subnets.Subnets {
		if vpc := aws.ToString(s.VpcId); vpc != e.VPCID {
			return []Miss{{PartRoute, subnet + " is in " + vpc, "must be in " + e.VPCID + ", where the additional security group is", remedy}}, nil
		}
	}
	routes, err := e.routes(ctx, subnet)
	if err != nil {
		return nil, err
	}
	state, err := stateOf(routes, e.ControlPrivateIP)
	if err != nil {
		return nil, err
	}
	if state == string(ec2types.RouteStateActive) {
		return nil, nil
	}
	return []Miss{{PartRoute, fmt.Sprintf("from %s to %s: %s", subnet, e.ControlPrivateIP, state), "must be active",
		"repair the subnet's route table, or " + remedy}}, nil
}

// routes returns those of a subnet's own table or else of its VPC's main one.
func (e *examination) routes(ctx context.Context, subnet string) ([]ec2types.Route, error) {
	filter := func(name, value string) ec2types.Filter { return ec2types.Filter{Name: &name, Values: []string{value}} }
	for _, filters := range [][]ec2types.Filter{
		{filter("association.subnet-id", subnet)},
		{filter("vpc-id", e.VPCID), filter("association.main", "true")},
	} {
		tables, err := e.EC2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: filters})
		if err != nil {
			return nil, fmt.Errorf("describe the route table of %s: %w", subnet, err)
		}
		if len(tables.RouteTables) > 0 {
			return tables.RouteTables[0].Routes, nil
		}
	}
	return nil, nil
}

// stateOf returns the state of the most specific route to an address, which is the one
// that a VPC uses.
func stateOf(routes []ec2types.Route, address string) (string, error) {
	to, err := netip.ParseAddr(address)
	if err != nil {
		return "", fmt.Errorf("read the control node's address: %w", err)
	}
	state, bits := "no route", -1
	for _, route := range routes {
		prefix, err := netip.ParsePrefix(aws.ToString(route.DestinationCidrBlock))
		if err == nil && prefix.Contains(to) && prefix.Bits() > bits {
			state, bits = string(route.State), prefix.Bits()
		}
	}
	return state, nil
}
