package doctor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// awsStub is a fake AWS: it answers like STS, IAM, EC2 and Service Quotas, in the forms of
// their API references. The tests have never run against AWS itself.
type awsStub struct {
	quotas  map[string]float64 // by code; a missing one is denied
	unset   bool               // the account has AWS's defaults
	roles   []string
	regions []string // those enabled for the account
	used    []resource
	hidden  bool              // EC2 refuses to describe anything
	network map[string]string // by action, or attribute: what EC2 answers about an existing VPC
}

// resource is an instance, an address or a VPC of the account.
type resource struct {
	kind  string // instance type, address or vpc
	stack string // by its tags
	spot  bool
	owner string // of a VPC
}

// serveEC2 answers DescribeInstances, DescribeAddresses and DescribeVpcs.
func (s awsStub) serveEC2(w http.ResponseWriter, action string) {
	if s.hidden {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>not authorized</Message></Error></Errors></Response>`)
		return
	}
	set := map[string]string{"DescribeInstances": "instancesSet", "DescribeAddresses": "addressesSet", "DescribeVpcs": "vpcSet"}[action]
	var items strings.Builder
	for _, r := range s.used {
		if action != map[string]string{"address": "DescribeAddresses", "vpc": "DescribeVpcs"}[r.kind] &&
			(action != "DescribeInstances" || !strings.Contains(r.kind, ".")) {
			continue
		}
		items.WriteString("<item><instanceType>" + r.kind + "</instanceType>")
		if r.spot {
			items.WriteString("<instanceLifecycle>spot</instanceLifecycle>")
		}
		if r.owner != "" {
			items.WriteString("<ownerId>" + r.owner + "</ownerId>")
		}
		items.WriteString("<tagSet>")
		for key, value := range platform.StackTags(r.stack) {
			items.WriteString("<item><key>" + key + "</key><value>" + value + "</value></item>")
		}
		items.WriteString("</tagSet></item>")
	}
	body := "<" + set + ">" + items.String() + "</" + set + ">"
	if action == "DescribeInstances" {
		body = "<reservationSet><item>" + body + "</item></reservationSet>"
	}
	fmt.Fprint(w, "<"+action+"Response>"+body+"</"+action+"Response>")
}

func (s awsStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scope := r.Header.Get("Authorization") // …/DATE/REGION/SERVICE/aws4_request
	if strings.Contains(r.Header.Get("X-Amz-Target"), "ServiceQuotas") {
		s.serveQuota(w, r)
		return
	}
	_ = r.ParseForm()
	action := r.PostForm.Get("Action")
	if text, ok := s.network[strings.TrimPrefix(action+" "+r.PostForm.Get("Attribute"), "DescribeVpcAttribute ")]; ok {
		fmt.Fprint(w, "<"+action+"Response>"+text+"</"+action+"Response>")
		return
	}
	switch action {
	case "DescribeInstances", "DescribeAddresses", "DescribeVpcs":
		s.serveEC2(w, action)
	case "GetCallerIdentity":
		for _, region := range s.regions {
			if strings.Contains(scope, "/"+region+"/sts/") {
				fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/ann</Arn>`+
					`<Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
				return
			}
		}
		fail(w, "InvalidClientTokenId", "The security token included in the request is invalid.")
	case "GetRole":
		name := r.PostForm.Get("RoleName")
		for _, role := range s.roles {
			if role == name {
				fmt.Fprintf(w, `<GetRoleResponse><GetRoleResult><Role><RoleName>%s</RoleName><Arn>arn:aws:iam::123456789012:role/%[1]s</Arn>`+
					`</Role></GetRoleResult></GetRoleResponse>`, name)
				return
			}
		}
		fail(w, "NoSuchEntity", "The role with name "+name+" cannot be found.")
	}
}

func (s awsStub) serveQuota(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, r.ContentLength)
	_, _ = r.Body.Read(body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if s.unset && !strings.Contains(r.Header.Get("X-Amz-Target"), "Default") {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"NoSuchResourceException","Message":"The request failed because the specified service does not exist."}`)
		return
	}
	for code, value := range s.quotas {
		if strings.Contains(string(body), code) {
			fmt.Fprintf(w, `{"Quota":{"QuotaCode":%q,"Value":%v}}`, code, value)
			return
		}
	}
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(w, `{"__type":"AccessDeniedException","Message":"not authorized"}`)
}

func fail(w http.ResponseWriter, code, message string) {
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, `<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`, code, message)
}

// fitAccount returns an account with what needs() says, and no more.
func fitAccount() awsStub {
	return awsStub{
		quotas:  map[string]float64{"L-1216C47A": 12, "L-34B43A08": 16, "L-0263D0A3": 1, "L-F678F1CE": 1},
		roles:   []string{"AWSServiceRoleForEMRCleanup", "AWSServiceRoleForEC2Spot"},
		regions: []string{"eu-west-1", "eu-south-1"},
	}
}

func needs() doctor.Needs {
	return doctor.Needs{Region: "eu-south-1", Stack: "dev", Clusters: true, Addresses: 1, VPCs: 1, Instances: []doctor.Instances{
		{Type: "m5.xlarge", Count: 1}, {Type: "r6g.2xlarge", Count: 1}, {Type: "c5.xlarge", Count: 4, Spot: true},
	}}
}

func examineAccount(t *testing.T, s awsStub, n doctor.Needs) doctor.Report {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return doctor.ExamineAccount(t.Context(), aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		RetryMaxAttempts: 1,
	}, n)
}

func TestAccountThatHasEverythingPasses(t *testing.T) {
	r := examineAccount(t, fitAccount(), needs())
	require.NoError(t, r.Err())
	require.True(t, r.OK)
	require.Contains(t, findCheck(t, r, "identity").Found, "user/ann")
	require.Len(t, r.Checks, 8)
}

// EMR creates its role with an account's first cluster, and a quota without a value of the
// account is AWS's default. What a stack does not need is not asked for.
func TestNewAccountPasses(t *testing.T) {
	s := fitAccount()
	s.unset, s.roles = true, s.roles[1:]
	r := examineAccount(t, s, needs())
	require.NoError(t, r.Err())
	require.Contains(t, findCheck(t, r, "role AWSServiceRoleForEMRCleanup").Found, "absent")

	s.quotas, s.roles = map[string]float64{"L-1216C47A": 4}, nil
	r = examineAccount(t, s, doctor.Needs{Region: "eu-south-1", Instances: []doctor.Instances{{Type: "m5.xlarge", Count: 1}}})
	require.NoError(t, r.Err())
	require.Len(t, r.Checks, 3)
}

// Each lack is found by its own check, whose remedy is a command.
func TestReportsMissingAccountSetup(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(*awsStub)
		check, remedy string
	}{
		"vCPUs": {
			func(s *awsStub) { s.quotas["L-1216C47A"] = 11 }, "quota on-demand vCPUs",
			"--region eu-south-1 --service-code ec2 --quota-code L-1216C47A --desired-value 12`",
		},
		"spot":      {func(s *awsStub) { s.quotas["L-34B43A08"] = 0 }, "quota spot vCPUs", "--desired-value 16"},
		"addresses": {func(s *awsStub) { s.quotas["L-0263D0A3"] = 0 }, "quota Elastic IP addresses", "L-0263D0A3"},
		"VPCs":      {func(s *awsStub) { s.quotas["L-F678F1CE"] = 0 }, "quota VPCs", "--service-code vpc"},
		"denied":    {func(s *awsStub) { delete(s.quotas, "L-F678F1CE") }, "quota VPCs", "allow servicequotas:GetServiceQuota"},
		"vCPUs that others use": {
			func(s *awsStub) {
				s.used = []resource{{kind: "m5.large", stack: "other"}, {kind: "m5.large", stack: "dev"}}
			},
			"quota on-demand vCPUs", "--desired-value 14`",
		},
		"spot vCPUs that others use": {
			func(s *awsStub) { s.used = []resource{{kind: "m5.large", stack: "other", spot: true}} }, "quota spot vCPUs", "--desired-value 18`",
		},
		"addresses of others": {
			func(s *awsStub) { s.used = []resource{{kind: "address", stack: "other"}} }, "quota Elastic IP addresses", "--desired-value 2`",
		},
		"VPCs of others": {func(s *awsStub) { s.used = []resource{{kind: "vpc"}} }, "quota VPCs", "--desired-value 2`"},
		"spot role": {
			func(s *awsStub) { s.roles = s.roles[:1] }, "role AWSServiceRoleForEC2Spot",
			"create-service-linked-role --aws-service-name spot.amazonaws.com",
		},
		"region":   {func(s *awsStub) { s.regions = s.regions[:1] }, "region", "enable-region --region-name eu-south-1"},
		"identity": {func(s *awsStub) { s.regions = nil }, "identity", "aws sso login"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fitAccount()
			c.change(&s)
			r := examineAccount(t, s, needs())
			require.False(t, r.OK)
			found := findCheck(t, r, c.check)
			require.False(t, found.OK)
			require.NotEmpty(t, found.Found)
			require.Contains(t, found.Remedy, c.remedy)
			failed := 0
			for _, each := range r.Checks {
				if !each.OK {
					failed++
				}
			}
			require.Equal(t, 1, failed, "%+v", r.Checks)
		})
	}
}

// A configuration without spot instances needs neither their quota nor their role.
func TestAccountWithoutSpotNeedsNoSpotRole(t *testing.T) {
	s, n := fitAccount(), needs()
	s.roles, s.quotas["L-34B43A08"] = s.roles[:1], 0
	n.Instances = n.Instances[:2]
	require.NoError(t, examineAccount(t, s, n).Err())
}

// A second `pulumi up` needs no second VPC, and a VPC that another account shares counts in
// that one's quota.
func TestOwnResourcesAreNotInUseByOthers(t *testing.T) {
	s := fitAccount()
	s.used = []resource{{kind: "m5.xlarge", stack: "dev"}, {kind: "address", stack: "dev"}, {kind: "vpc", stack: "dev"},
		{kind: "vpc", owner: "210987654321"}}
	require.NoError(t, examineAccount(t, s, needs()).Err())
}

// The sizes of some types of previous generations say another number of vCPUs.
func TestVCPUsOfKnownTypes(t *testing.T) {
	s, n := fitAccount(), needs()
	s.quotas["L-1216C47A"] = 32
	n.Instances = []doctor.Instances{{Type: "c4.8xlarge", Count: 1}}
	require.NoError(t, examineAccount(t, s, n).Err())
	n.VCPUs = func(name string) int { return map[string]int{"c4.8xlarge": 36}[name] }
	require.ErrorContains(t, examineAccount(t, s, n).Err(), "--desired-value 36")
	s.quotas["L-1216C47A"] = 36
	require.NoError(t, examineAccount(t, s, n).Err())
	n.Instances[0].Type = "m5.xlarge"
	require.NoError(t, examineAccount(t, s, n).Err(), "a type that it does not know")
}

// Without the right to see what is in use, nobody knows whether the stack fits.
func TestUnreadUsageIsNoRoom(t *testing.T) {
	s := fitAccount()
	s.hidden = true
	r := examineAccount(t, s, needs())
	for name, action := range map[string]string{
		"quota on-demand vCPUs": "ec2:DescribeInstances", "quota Elastic IP addresses": "ec2:DescribeAddresses", "quota VPCs": "ec2:DescribeVpcs",
	} {
		found := findCheck(t, r, name)
		require.False(t, found.OK)
		require.Contains(t, found.Remedy, "allow "+action)
	}
}

func TestInstancesOfOtherQuotasAreNamed(t *testing.T) {
	n := needs()
	n.Instances = append(n.Instances, doctor.Instances{Type: "g5.xlarge", Count: 100}, doctor.Instances{Type: "m5.metal", Count: 100})
	r := examineAccount(t, fitAccount(), n)
	require.NoError(t, r.Err())
	require.Contains(t, findCheck(t, r, "quota of other families").Found, "g5.xlarge, m5.metal")
}
