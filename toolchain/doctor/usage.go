package doctor

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// usage counts what others than the stack use of a quota in its region: the stack's own
// resources are among what it needs.
type usage struct {
	count  func(context.Context) (int, error)
	action string // that the identity must be allowed
}

// instanceReader reads the running instances of others once, for both markets.
func (a account) instanceReader() func(context.Context) ([]ec2types.Instance, error) {
	var once sync.Once
	var others []ec2types.Instance
	var err error
	return func(ctx context.Context) ([]ec2types.Instance, error) {
		once.Do(func() { others, err = a.instancesOfOthers(ctx) })
		return others, err
	}
}

func (a account) instancesOfOthers(ctx context.Context) (others []ec2types.Instance, err error) {
	pages := ec2.NewDescribeInstancesPaginator(a.ec2, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err // the caller names the quota
		}
		for _, r := range page.Reservations {
			others = append(others, slices.DeleteFunc(r.Instances, func(i ec2types.Instance) bool { return a.owns(i.Tags) })...)
		}
	}
	return others, nil
}

func (a account) usedVCPUs(read func(context.Context) ([]ec2types.Instance, error), spot bool) usage {
	return usage{action: "ec2:DescribeInstances", count: func(ctx context.Context) (int, error) {
		instances, err := read(ctx)
		sum := 0
		for _, i := range instances {
			each, counted := a.vcpusOf(string(i.InstanceType))
			if counted && (i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot) == spot {
				sum += each
			}
		}
		return sum, err
	}}
}

func (a account) usedAddresses() usage {
	return usage{action: "ec2:DescribeAddresses", count: func(ctx context.Context) (int, error) {
		out, err := a.ec2.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
		if err != nil {
			return 0, err // the caller names the quota
		}
		sum := 0
		for _, address := range out.Addresses {
			if !a.owns(address.Tags) {
				sum++
			}
		}
		return sum, nil
	}}
}

func (a account) usedVPCs() usage {
	return usage{action: "ec2:DescribeVpcs", count: func(ctx context.Context) (int, error) {
		sum := 0
		pages := ec2.NewDescribeVpcsPaginator(a.ec2, &ec2.DescribeVpcsInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return 0, err // the caller names the quota
			}
			for _, vpc := range page.Vpcs {
				shared := vpc.OwnerId != nil && *vpc.OwnerId != a.id // by another account, whose quota it is
				if !shared && !a.owns(vpc.Tags) {
					sum++
				}
			}
		}
		return sum, nil
	}}
}

// owns reports whether a resource has the tags of the stack.
func (a account) owns(tags []ec2types.Tag) bool {
	missing := platform.StackTags(a.Stack)
	for _, t := range tags {
		if missing[aws.ToString(t.Key)] == aws.ToString(t.Value) {
			delete(missing, aws.ToString(t.Key))
		}
	}
	return len(missing) == 0
}
