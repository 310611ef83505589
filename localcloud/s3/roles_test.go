package s3_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

const worksInLake = `{"Version":"2012-10-17","Statement":[
{"Sid":"List","Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::lake"],
"Condition":{"StringLike":{"s3:prefix":["orders/*"]}}},
{"Sid":"Work","Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":["arn:aws:s3:::lake/orders/*"]},
{"Sid":"UseKey","Effect":"Allow","Action":"kms:Decrypt","Resource":"*"}]}`

// status returns the HTTP status of an answer.
func status(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return http.StatusOK
	}
	var answer interface{ HTTPStatusCode() int }
	require.ErrorAs(t, err, &answer)
	return answer.HTTPStatusCode()
}

func putStatus(t *testing.T, g *s3.Gateway, role, key string) int {
	t.Helper()
	client, err := g.ClientOf(t.Context(), role)
	require.NoError(t, err)
	_, err = client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("lake"), Key: &key, Body: strings.NewReader("x")})
	return status(t, err)
}

func TestRoleMayDoWhatItsPoliciesAllow(t *testing.T) {
	g, ctx := startGateway(t), t.Context()
	require.NoError(t, g.Roles.Put(ctx, "nodes"))
	require.NoError(t, g.Roles.Put(ctx, "nodes"), "an existing role stays")
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "nodes", "orders/1"), "no policy allows it yet")

	require.NoError(t, g.Roles.PutPolicy(ctx, "nodes", "access", worksInLake))
	require.Equal(t, http.StatusOK, putStatus(t, g, "nodes", "orders/1"))
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "nodes", "tempo/1"))
	client, err := g.ClientOf(t.Context(), "nodes")
	require.NoError(t, err)
	list := func(prefix string) int {
		_, err := client.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String("lake"), Prefix: &prefix})
		return status(t, err)
	}
	require.Equal(t, http.StatusOK, list("orders/"))
	require.Equal(t, http.StatusForbidden, list("tempo/"), "the condition on s3:prefix counts")

	// An edit holds at once, for the same key; without statements about S3 none is left.
	require.NoError(t, g.Roles.PutPolicy(ctx, "nodes", "access", strings.ReplaceAll(worksInLake, "orders", "tempo")))
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "nodes", "orders/1"))
	require.Equal(t, http.StatusOK, putStatus(t, g, "nodes", "tempo/1"))
	require.NoError(t, g.Roles.PutPolicy(ctx, "nodes", "access", strings.ReplaceAll(worksInLake, `"s3:`, `"sqs:`)))
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "nodes", "tempo/1"))

	require.NoError(t, g.Roles.Delete(ctx, "nodes"))
	require.NoError(t, g.Roles.Delete(ctx, "nodes"), "it is gone")
	_, err = client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: aws.String("lake"), Key: aws.String("tempo/1")})
	require.Equal(t, http.StatusForbidden, status(t, err), "its key is void")
	_, err = g.ClientOf(t.Context(), "nodes")
	require.Error(t, err)
	require.ErrorContains(t, g.Roles.PutPolicy(ctx, "absent", "access", worksInLake), "role absent")
	require.ErrorContains(t, g.Roles.PutPolicy(ctx, "absent", "access", "{"), "read the policy")
}

func TestProfileHasOneRole(t *testing.T) {
	g, ctx := startGateway(t), t.Context()
	for _, role := range []string{"one", "two"} {
		require.NoError(t, g.Roles.Put(ctx, role))
	}
	_, err := g.Roles.OfProfile("nodes")
	require.ErrorContains(t, err, "instance profile nodes does not exist")
	for _, role := range []string{"one", "two", "two"} {
		require.NoError(t, g.Roles.PutProfile(ctx, "nodes", role))
		found, err := g.Roles.OfProfile("nodes")
		require.NoError(t, err)
		require.Equal(t, role, found)
	}
	require.NoError(t, g.Roles.DeleteProfile("nodes"))
	_, err = g.Roles.OfProfile("nodes")
	require.Error(t, err)
	require.ErrorContains(t, g.Roles.PutProfile(ctx, "nodes", "absent"), "role absent")
}

// Other services see a role of a profile some seconds after IAM has set it.
func TestProfilePropagates(t *testing.T) {
	now := clocktest.NewFakePassiveClock(time.Now())
	g, ctx := startGateway(t, func(o *s3.Options) { o.Clock = now }), t.Context()
	for _, role := range []string{"one", "two"} {
		require.NoError(t, g.Roles.Put(ctx, role))
	}
	pass := func() { now.SetTime(now.Now().Add(s3.PropagationDelay)) }
	require.False(t, g.Roles.Propagated("nodes"), "there is none")
	require.NoError(t, g.Roles.PutProfile(ctx, "nodes", ""))
	pass()
	require.False(t, g.Roles.Propagated("nodes"), "it has no role")
	for _, role := range []string{"one", "two"} {
		require.NoError(t, g.Roles.PutProfile(ctx, "nodes", role))
		require.False(t, g.Roles.Propagated("nodes"))
		pass()
		require.True(t, g.Roles.Propagated("nodes"))
	}
	require.NoError(t, g.Roles.PutProfile(ctx, "nodes", "two"))
	require.True(t, g.Roles.Propagated("nodes"), "nothing has changed")
}

// Another process on the same state has the roles with their policies and profiles,
// and gives new keys: the old ones ended with the machines that had them.
func TestRolesOutliveTheProcess(t *testing.T) {
	g, ctx := startGateway(t), t.Context()
	require.NoError(t, g.Roles.Put(ctx, "nodes"))
	require.NoError(t, g.Roles.PutPolicy(ctx, "nodes", "access", worksInLake))
	require.NoError(t, g.Roles.PutProfile(ctx, "nodes-profile", "nodes"))
	before, err := g.Roles.Key(ctx, "nodes")
	require.NoError(t, err)
	g.Stop()

	o := g.Options
	o.Address = testenv.Address(t)
	again, err := s3.Start(ctx, o)
	require.NoError(t, err)
	t.Cleanup(again.Stop)
	role, err := again.Roles.OfProfile("nodes-profile")
	require.NoError(t, err)
	require.True(t, again.Roles.Propagated("nodes-profile"))
	require.Equal(t, http.StatusOK, putStatus(t, again, role, "orders/1"))
	after, err := again.Roles.Key(ctx, "nodes")
	require.NoError(t, err)
	require.NotEqual(t, before, after)
	for range 2 { // a user has two keys at most
		other, err := s3.Start(ctx, withAddress(o, testenv.Address(t)))
		require.NoError(t, err)
		_, err = other.Roles.Key(ctx, "nodes")
		require.NoError(t, err)
		other.Stop()
	}
}

// A managed policy counts where it is attached, in its latest version, also for another
// process.
func TestAttachedPoliciesCount(t *testing.T) {
	g, ctx := startGateway(t), t.Context()
	const arn = "arn:aws:iam::123456789012:policy/team/lake"
	require.NoError(t, g.Roles.Put(ctx, "nodes"))
	require.NoError(t, g.Roles.Attach(ctx, "nodes", arn))
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "nodes", "orders/1"), "the policy is not there yet")
	require.NoError(t, g.Roles.PutManaged(ctx, arn, worksInLake))
	require.Equal(t, http.StatusOK, putStatus(t, g, "nodes", "orders/1"))
	require.NoError(t, g.Roles.Put(ctx, "others"))
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "others", "orders/1"), "it is not attached")
	require.NoError(t, g.Roles.PutManaged(ctx, arn, strings.ReplaceAll(worksInLake, "orders", "tempo")))
	require.Equal(t, http.StatusForbidden, putStatus(t, g, "nodes", "orders/1"))
	require.Equal(t, http.StatusOK, putStatus(t, g, "nodes", "tempo/1"))
	require.ErrorIs(t, g.Roles.DeleteManaged(arn), s3.ErrAttached)
	g.Stop()

	again, err := s3.Start(ctx, withAddress(g.Options, testenv.Address(t)))
	require.NoError(t, err)
	t.Cleanup(again.Stop)
	require.Equal(t, http.StatusOK, putStatus(t, again, "nodes", "tempo/1"))
	require.NoError(t, again.Roles.Detach(ctx, "nodes", arn))
	require.Equal(t, http.StatusForbidden, putStatus(t, again, "nodes", "tempo/1"))
	require.NoError(t, again.Roles.Attach(ctx, "nodes", arn))
	require.NoError(t, again.Roles.Delete(ctx, "nodes"))
	require.NoError(t, again.Roles.DeleteManaged(arn))
}

func withAddress(o s3.Options, address string) s3.Options {
	o.Address = address
	return o
}

func TestKilledIAMRestartsWithItsRoles(t *testing.T) {
	g, ctx := startGateway(t), t.Context()
	require.NoError(t, g.Roles.Put(ctx, "nodes"))
	require.NoError(t, g.Roles.PutPolicy(ctx, "nodes", "access", worksInLake))
	require.Equal(t, http.StatusOK, putStatus(t, g, "nodes", "orders/1"))
	pid := g.Roles.PID()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	testenv.Eventually(t, func() bool { return g.Roles.PID() != pid }, testenv.Arrival, 50*time.Millisecond)
	testenv.Eventually(t, func() bool {
		client, err := g.ClientOf(ctx, "nodes")
		if err != nil {
			return false
		}
		_, err = client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: aws.String("lake"), Key: aws.String("orders/1")})
		return err == nil
	}, testenv.Arrival, 100*time.Millisecond)
}

// A service takes a role only for the resource that the trust names, and does what the role's policy says.
func TestServiceAssumesARole(t *testing.T) {
	g := startGateway(t)
	ctx, roles := t.Context(), g.Roles
	const (
		group   = "arn:aws:scheduler:us-east-1:123456789012:schedule-group/mine"
		cluster = "arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-1"
		add     = "elasticmapreduce:AddJobFlowSteps"
	)
	require.NoError(t, roles.Put(ctx, "starts"))
	assume := func(service, source, action, resource string) error {
		_, err := roles.AssumeForService(ctx, "starts", service, source, s3.Access{Action: action, Resource: resource})
		return err
	}
	require.ErrorIs(t, assume("scheduler.amazonaws.com", group, add, cluster), s3.ErrDenied, "no trust")
	require.NoError(t, roles.PutTrust("starts", `{"Statement":[{"Effect":"Allow","Principal":{"Service":["scheduler.amazonaws.com"]},`+
		`"Action":["sts:AssumeRole"],"Condition":{"StringEquals":{"aws:SourceAccount":["123456789012"],"aws:SourceArn":["`+group+`"]}}}]}`))
	require.ErrorIs(t, assume("scheduler.amazonaws.com", group, add, cluster), s3.ErrDenied, "no grant")
	grant := `{"Statement":[{"Effect":"Allow","Action":["` + add + `"],"Resource":["` + cluster + `"]}]}`
	require.NoError(t, roles.PutInline(ctx, "starts", "add", grant))
	require.NoError(t, assume("scheduler.amazonaws.com", group, add, cluster))
	for name, of := range map[string][4]string{
		"another service": {"events.amazonaws.com", group, add, cluster}, "another group": {"scheduler.amazonaws.com", group + "2", add, cluster},
		"another action":  {"scheduler.amazonaws.com", group, "elasticmapreduce:TerminateJobFlows", cluster},
		"another cluster": {"scheduler.amazonaws.com", group, add, cluster + "2"},
	} {
		require.ErrorIs(t, assume(of[0], of[1], of[2], of[3]), s3.ErrDenied, name)
	}
	// A cluster that a run starts: the call has a condition, and each role that EMR gets is an access of its own.
	const run = "elasticmapreduce:RunJobFlow"
	require.NoError(t, roles.PutInline(ctx, "starts", "run", `{"Statement":[{"Effect":"Allow","Action":["`+run+`"],"Resource":["*"],`+
		`"Condition":{"StringEquals":{"elasticmapreduce:RequestTag/cluster":["nightly"]}}},{"Effect":"Allow","Action":["iam:PassRole"],`+
		`"Resource":["arn:aws:iam::123456789012:role/path/nodes"],"Condition":{"StringEquals":{"iam:PassedToService":["ec2.amazonaws.com"]}}}]}`))
	start := func(cluster, role, to string) error {
		_, err := roles.AssumeForService(ctx, "starts", "scheduler.amazonaws.com", group,
			s3.Access{Action: run, Resource: "*", Context: map[string]string{"elasticmapreduce:RequestTag/cluster": cluster}},
			s3.Access{Action: s3.PassRole, Resource: role, Context: map[string]string{"iam:PassedToService": to}})
		return err
	}
	require.NoError(t, start("nightly", "nodes", "ec2.amazonaws.com"))
	require.ErrorIs(t, start("other", "nodes", "ec2.amazonaws.com"), s3.ErrDenied)
	require.ErrorIs(t, start("nightly", "admin", "ec2.amazonaws.com"), s3.ErrDenied)
	require.ErrorIs(t, start("nightly", "nodes", "lambda.amazonaws.com"), s3.ErrDenied)
}
