package main_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/observe"
)

// account is a fake of EC2 and of what of IAM the local cloud does not have. It answers in
// the forms of their API references, about one role, one foreign subnet and its routes.
type account struct {
	denied    string // an action that the role is not allowed
	vpc       string // of subnet-2
	state     string // of the route to the control node, in the subnet's own table
	mainTable bool   // the subnet has none of its own
	failing   string // an action that the caller is not allowed
}

func (a account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	action, form := r.PostForm.Get("Action"), r.PostForm
	switch {
	case action == a.failing:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>`)
	case action == "GetInstanceProfile" && form.Get("InstanceProfileName") == "team":
		fmt.Fprint(w, `<GetInstanceProfileResponse><GetInstanceProfileResult><InstanceProfile><Roles><member>`+
			`<RoleName>team-nodes</RoleName><Arn>arn:aws:iam::123456789012:role/team-nodes</Arn></member></Roles></InstanceProfile>`+
			`</GetInstanceProfileResult></GetInstanceProfileResponse>`)
	case action == "SimulatePrincipalPolicy" && form.Get("PolicySourceArn") == "arn:aws:iam::123456789012:role/team-nodes":
		asked := form.Get("ActionNames.member.1")
		right := map[string]string{
			"s3:GetObject": "arn:aws:s3:::bucket/artifacts/ab/bootstrap.sh", "kms:Decrypt": "arn:aws:kms:us-east-1:123456789012:key/k",
		}[asked]
		decision := "implicitDeny"
		through := form.Get("ContextEntries.member.1.ContextKeyName") == "kms:ViaService" &&
			form.Get("ContextEntries.member.1.ContextKeyValues.member.1") == "s3.us-east-1.amazonaws.com"
		if asked != a.denied && form.Get("ResourceArns.member.1") == right && through == (asked == "kms:Decrypt") {
			decision = "allowed"
		}
		fmt.Fprintf(w, `<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult><EvaluationResults><member><EvalActionName>%s`+
			`</EvalActionName><EvalDecision>%s</EvalDecision></member></EvaluationResults></SimulatePrincipalPolicyResult>`+
			`</SimulatePrincipalPolicyResponse>`, asked, decision)
	case action == "DescribeSubnets":
		fmt.Fprintf(w, `<DescribeSubnetsResponse><subnetSet><item><subnetId>%s</subnetId><vpcId>%s</vpcId></item></subnetSet>`+
			`</DescribeSubnetsResponse>`, form.Get("SubnetId.1"), a.vpc)
	case action == "DescribeRouteTables" && (form.Get("Filter.1.Name") == "association.subnet-id") == a.mainTable:
		fmt.Fprint(w, `<DescribeRouteTablesResponse><routeTableSet/></DescribeRouteTablesResponse>`)
	case action == "DescribeRouteTables":
		fmt.Fprintf(w, `<DescribeRouteTablesResponse><routeTableSet><item><routeSet>`+
			`<item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><state>active</state></item>`+
			`<item><destinationCidrBlock>10.0.0.0/24</destinationCidrBlock><state>%s</state></item>`+
			`<item><destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><state>active</state></item>`+
			`</routeSet></item></routeTableSet></DescribeRouteTablesResponse>`, a.state)
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse><Error><Code>InvalidAction</Code><Message>%s</Message></Error></ErrorResponse>`, action)
	}
}

// team is a cluster that others start, with the account that it is in.
type team struct {
	request emr.RunJobFlowInput
	release string // as EMR describes it, if it is another
	account account
}

func configurations(list []observe.Classification) []types.Configuration {
	var out []types.Configuration
	for _, c := range list {
		out = append(out, types.Configuration{
			Classification: aws.String(c.Classification), Properties: c.Properties, Configurations: configurations(c.Configurations),
		})
	}
	return out
}

// observedTeam lacks nothing. Its configurations are its own with the platform's.
func observedTeam() team {
	s := stackOutputs().Observe
	group := func(role types.InstanceRoleType, count int32) types.InstanceGroupConfig {
		return types.InstanceGroupConfig{
			InstanceRole: role, InstanceType: aws.String("m5.xlarge"), InstanceCount: &count,
			Configurations: configurations([]observe.Classification{
				{Classification: "spark-defaults", Properties: map[string]string{"a": "b"}},
			}),
		}
	}
	return team{
		request: emr.RunJobFlowInput{
			Name: aws.String("nightly"), ReleaseLabel: aws.String("emr-6.15.0"), ServiceRole: aws.String("EMR"),
			JobFlowRole:  aws.String("arn:aws:iam::123456789012:instance-profile/team"),
			Applications: []types.Application{{Name: aws.String("Hadoop")}, {Name: aws.String("Spark")}},
			Configurations: configurations(observe.Merge([]observe.Classification{
				{Classification: "spark-defaults", Properties: map[string]string{"spark.driver.defaultJavaOptions": "-Xss8m"}},
			}, s.Configurations)),
			BootstrapActions: []types.BootstrapActionConfig{
				{Name: aws.String("team"), ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: aws.String("s3://team/setup.sh")}},
				{Name: aws.String("observatory"), ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{
					Path: &s.Bootstrap.Path, Args: s.Bootstrap.Args,
				}},
			},
			Tags: []types.Tag{
				{Key: aws.String("observatory:project"), Value: aws.String("emr-observatory")},
				{Key: aws.String("observatory:stack"), Value: aws.String("dev")},
			},
			Instances: &types.JobFlowInstancesConfig{
				KeepJobFlowAliveWhenNoSteps: aws.Bool(true), Ec2SubnetId: aws.String("subnet-2"),
				AdditionalMasterSecurityGroups: []string{"sg-1", s.SecurityGroupID}, AdditionalSlaveSecurityGroups: []string{s.SecurityGroupID},
				InstanceGroups: []types.InstanceGroupConfig{group(types.InstanceRoleTypeMaster, 1), group(types.InstanceRoleTypeCore, 2)},
			},
		},
		account: account{vpc: "vpc-1", state: "active"},
	}
}

// script is the platform's bootstrap action among the request's.
func (c team) script() *types.ScriptBootstrapActionConfig {
	return c.request.BootstrapActions[1].ScriptBootstrapAction
}

// check starts the cluster with AWS's SDK in EMR's API of the local cloud, and runs
// `observe check` on it.
func (c team) check(t *testing.T, arguments ...string) outcome {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	server, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	api, others := httptest.NewServer(server), httptest.NewServer(c.account)
	t.Cleanup(func() { api.Close(); others.Close(); server.Close() })
	client := emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: &api.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local-secret", ""),
	})
	started, err := client.RunJobFlow(t.Context(), &c.request)
	require.NoError(t, err)
	if c.release != "" {
		require.NoError(t, store.UpdateCluster(*started.JobFlowId, func(cluster *types.Cluster) { cluster.ReleaseLabel = &c.release }))
	}
	return observatory(t, t.TempDir(), []string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local-secret", "AWS_MAX_ATTEMPTS=1",
		"AWS_ENDPOINT_URL_EMR=" + api.URL, "AWS_ENDPOINT_URL_IAM=" + others.URL, "AWS_ENDPOINT_URL_EC2=" + others.URL,
	}, append([]string{"observe", "check", *started.JobFlowId, "--outputs", writeOutputs(t)}, arguments...)...)
}
