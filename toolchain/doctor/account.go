package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	quotatypes "github.com/aws/aws-sdk-go-v2/service/servicequotas/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Needs is what a stack requires of its AWS account.
type Needs struct {
	Region    string
	Stack     string // whose tags its own resources have
	Clusters  bool   // whether it has any
	Instances []Instances
	Addresses int // Elastic IP addresses
	VPCs      int
	Network   *Network // nil: the stack creates its own
	// VCPUs returns the vCPUs of an instance type, 0 if it does not know the type. They
	// are then computed from the size. May be nil.
	VCPUs func(instanceType string) int
}

// Instances are EC2 instances of one type and market.
type Instances struct {
	Type  string
	Count int
	Spot  bool
}

func (n Needs) spot() bool {
	return slices.ContainsFunc(n.Instances, func(i Instances) bool { return i.Spot })
}

// quota is one of Service Quotas' limits; codes as `aws service-quotas
// list-service-quotas` prints them.
type quota struct {
	name, service, code string
	need                int
	used                usage
}

// ExamineAccount checks identity, region, quotas, service-linked roles and the VPC that the
// stack is to run in. It
// changes nothing. A quota must have room for the stack beside all that the account has
// in the region.
func ExamineAccount(ctx context.Context, cfg aws.Config, n Needs) Report {
	if cfg.Region == "" {
		cfg.Region = n.Region
	}
	a := account{home: cfg, Needs: n}
	cfg.Region = n.Region
	a.quotas, a.roles, a.tokens = servicequotas.NewFromConfig(cfg), iam.NewFromConfig(cfg), sts.NewFromConfig(cfg)
	a.ec2 = ec2.NewFromConfig(cfg)
	r := Report{OK: true, Checks: []Check{a.identity(ctx)}}
	if r.Checks[0].OK {
		r.Checks = append(r.Checks, a.rest(ctx)...)
	}
	for i := range r.Checks {
		if r.Checks[i].OK {
			r.Checks[i].Remedy = ""
		}
		r.OK = r.OK && r.Checks[i].OK
	}
	return r
}

type account struct {
	Needs
	id     string
	home   aws.Config // with the region of the ambient configuration
	tokens *sts.Client
	quotas *servicequotas.Client
	roles  *iam.Client
	ec2    *ec2.Client
}

func (a *account) identity(ctx context.Context) Check {
	c := Check{
		Name: "identity", Rule: "the default AWS SDK configuration must hold valid credentials",
		Remedy: "run `aws sso login`, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	}
	out, err := sts.NewFromConfig(a.home).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		c.Found = reason(err)
		return c
	}
	a.id = aws.ToString(out.Account)
	c.Found, c.OK = aws.ToString(out.Arn), true
	return c
}

// rest runs the checks that need an identity, concurrently.
func (a account) rest(ctx context.Context) []Check {
	checks := []func(context.Context) Check{a.region}
	for _, q := range a.limits() {
		if q.need == 0 {
			continue
		}
		checks = append(checks, func(ctx context.Context) Check { return a.quota(ctx, q) })
	}
	if a.Clusters {
		checks = append(checks, func(ctx context.Context) Check {
			// EMR Management Guide, "Using service-linked roles for cleanup".
			return a.role(ctx, "AWSServiceRoleForEMRCleanup", "elasticmapreduce.amazonaws.com", "EMR ends instances with it",
				"EMR creates it with the account's first cluster")
		})
	}
	if a.spot() {
		checks = append(checks, func(ctx context.Context) Check {
			return a.role(ctx, platform.SpotRole, platform.SpotService, "the configuration has spot instances", "")
		})
	}
	results := make([]Check, len(checks))
	var network []Check
	var wg sync.WaitGroup
	if a.Network != nil {
		wg.Go(func() { network = a.network(ctx) })
	}
	for i, check := range checks {
		wg.Go(func() { results[i] = check(ctx) })
	}
	wg.Wait()
	return slices.Concat(results, network, a.uncounted())
}

// region calls STS in the stack's region: where a region is not enabled for the
// account, STS knows none of its credentials (IAM User Guide, "Managing AWS STS
// in an AWS Region").
func (a account) region(ctx context.Context) Check {
	c := Check{
		Name: "region", Rule: "the account must have enabled the stack's region",
		Remedy: "run `aws account enable-region --region-name " + a.Region + "`, or choose another with emr-observatory:region",
	}
	if _, err := a.tokens.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}); err != nil {
		c.Found = a.Region + ": " + reason(err)
		return c
	}
	c.Found, c.OK = a.Region, true
	return c
}

func (a account) limits() []quota {
	instances := a.instanceReader()
	return []quota{
		{"on-demand vCPUs", "ec2", "L-1216C47A", a.vcpus(false), a.usedVCPUs(instances, false)},
		{"spot vCPUs", "ec2", "L-34B43A08", a.vcpus(true), a.usedVCPUs(instances, true)},
		{"Elastic IP addresses", "ec2", "L-0263D0A3", a.Addresses, a.usedAddresses()},
		{"VPCs", "vpc", "L-F678F1CE", a.VPCs, a.usedVPCs()},
	}
}

func (a account) quota(ctx context.Context, q quota) Check {
	c := Check{Name: "quota " + q.name, Rule: fmt.Sprintf("must have room for %d, which the stack needs", q.need)}
	used, err := q.used.count(ctx)
	if err != nil {
		return unread(c, err, q.used.action)
	}
	value, err := a.quotaValue(ctx, q)
	if err != nil {
		return unread(c, err, "servicequotas:GetServiceQuota", "servicequotas:GetAWSDefaultServiceQuota")
	}
	c.Found, c.OK = fmt.Sprintf("%.0f (%s), of which others use %d", value, q.code, used), value >= float64(used+q.need)
	c.Remedy = fmt.Sprintf("run `aws service-quotas request-service-quota-increase --region %s --service-code %s "+
		"--quota-code %s --desired-value %d`", a.Region, q.service, q.code, used+q.need)
	return c
}

// unread returns the check of what could not be read, with the actions that reading takes.
func unread(c Check, err error, actions ...string) Check {
	c.Found = reason(err)
	if denied(err) {
		c.Remedy = "allow " + strings.Join(actions, " and ") + " to this identity"
	}
	return c
}

// quotaValue returns a quota of the account: AWS's default if it has no value of its own.
func (a account) quotaValue(ctx context.Context, q quota) (float64, error) {
	own, err := a.quotas.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: &q.service, QuotaCode: &q.code})
	if err == nil {
		return aws.ToFloat64(own.Quota.Value), nil
	}
	var none *quotatypes.NoSuchResourceException
	if !errors.As(err, &none) {
		return 0, err // the caller names the quota
	}
	input := &servicequotas.GetAWSDefaultServiceQuotaInput{ServiceCode: &q.service, QuotaCode: &q.code}
	common, err := a.quotas.GetAWSDefaultServiceQuota(ctx, input)
	if err != nil {
		return 0, err // as above
	}
	return aws.ToFloat64(common.Quota.Value), nil
}

// role checks for a service-linked role, which an account has once. absent says why it may
// be missing; "" if it may not.
func (a account) role(ctx context.Context, name, service, why, absent string) Check {
	c := Check{
		Name: "role " + name, Rule: "the account must have it: " + why,
		Remedy: "run `aws iam create-service-linked-role --aws-service-name " + service +
			"`; no stack creates it, since no stack may delete it",
	}
	out, err := a.roles.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	var none *iamtypes.NoSuchEntityException
	if absent != "" && errors.As(err, &none) {
		c.Found, c.OK = "absent: "+absent, true
		return c
	}
	if err != nil {
		return unread(c, err, "iam:GetRole")
	}
	c.Found, c.OK = aws.ToString(out.Role.Arn), true
	return c
}

// uncounted reports instance types whose quota is none of those above.
func (a account) uncounted() []Check {
	var types []string
	for _, i := range a.Instances {
		if _, ok := standardVCPUs(i.Type); !ok && !slices.Contains(types, i.Type) {
			types = append(types, i.Type)
		}
	}
	if len(types) == 0 {
		return nil
	}
	return []Check{{
		Name: "quota of other families", OK: true, Found: strings.Join(types, ", ") + ": not checked",
		Rule: "types outside the families A, C, D, H, I, M, R, T and Z, and bare metal, have quotas of their own",
	}}
}

// denied reports that the identity may not make the call. EC2's code is not that of
// the other services (EC2 API, "Error codes").
func denied(err error) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && (strings.HasPrefix(answer.ErrorCode(), "AccessDenied") || answer.ErrorCode() == "UnauthorizedOperation")
}

// reason returns a service's own code and message, or the error on one line.
func reason(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode() + ": " + answer.ErrorMessage()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
