package iamapi_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/iamapi"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// client begins both scripts. `refused` prints the code and message of IAM's refusal.
const client = `
import boto3, json
iam = boto3.client("iam")
def refused(do, **arguments):
    try:
        do(**arguments)
    except iam.exceptions.ClientError as e:
        return print(e.response["Error"]["Code"], e.response["Error"]["Message"])
    raise SystemExit("accepted")
`

// team creates what a team's script creates before it starts a cluster.
const team = client + `
trust = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}]}
read = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::lake/a"}]}
role = iam.create_role(RoleName="team", AssumeRolePolicyDocument=json.dumps(trust))["Role"]
assert role["Arn"] == "arn:aws:iam::123456789012:role/team" and role["AssumeRolePolicyDocument"] == trust, role
refused(iam.create_role, RoleName="team", AssumeRolePolicyDocument=json.dumps(trust))
refused(iam.create_role, RoleName="other", AssumeRolePolicyDocument="{")
arn = iam.create_policy(PolicyName="read", PolicyDocument=json.dumps(read))["Policy"]["Arn"]
iam.attach_role_policy(RoleName="team", PolicyArn=arn)
iam.attach_role_policy(RoleName="team", PolicyArn="arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2")
refused(iam.attach_role_policy, RoleName="team", PolicyArn=arn + "s")
iam.put_role_policy(RoleName="team", PolicyName="own", PolicyDocument=json.dumps(read).replace("lake/a", "lake/b"))
iam.create_instance_profile(InstanceProfileName="team")
iam.add_role_to_instance_profile(InstanceProfileName="team", RoleName="team")
refused(iam.add_role_to_instance_profile, InstanceProfileName="team", RoleName="team")
iam.get_waiter("instance_profile_exists").wait(InstanceProfileName="team", WaiterConfig={"Delay": 1, "MaxAttempts": 1})
profile = iam.get_instance_profile(InstanceProfileName="team")["InstanceProfile"]
assert [r["RoleName"] for r in profile["Roles"]] == ["team"], profile
refused(iam.list_roles)
`

// end deletes it all, in the order that IAM requires.
const end = client + `
arn = "arn:aws:iam::123456789012:policy/read"
refused(iam.delete_policy, PolicyArn=arn)
refused(iam.delete_role, RoleName="team")
iam.detach_role_policy(RoleName="team", PolicyArn=arn)
iam.detach_role_policy(RoleName="team", PolicyArn="arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2")
refused(iam.delete_role, RoleName="team")
iam.delete_role_policy(RoleName="team", PolicyName="own")
refused(iam.delete_role, RoleName="team")
refused(iam.delete_instance_profile, InstanceProfileName="team")
iam.remove_role_from_instance_profile(InstanceProfileName="team", RoleName="team")
iam.delete_instance_profile(InstanceProfileName="team")
iam.delete_role(RoleName="team")
iam.delete_policy(PolicyArn=arn)
refused(iam.get_instance_profile, InstanceProfileName="team")
`

// startGateway starts an S3 with the bucket lake.
func startGateway(t *testing.T) *s3.Gateway {
	t.Helper()
	binary, err := servers.Find(t.Context(), servers.VersityGW)
	require.NoError(t, err)
	g, err := s3.Start(t.Context(), s3.Options{
		Binary: binary, Dir: t.TempDir(), Address: testenv.Address(t), Region: "us-east-1", AccessKey: "key", SecretKey: "secret-key",
		Log: io.Discard,
	})
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	_, err = g.Client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("lake")})
	require.NoError(t, err)
	return g
}

// TestBoto3MakesARole makes a role as a team's script does. What S3 lets it read
// follows.
func TestBoto3MakesARole(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with boto3")
	g := startGateway(t)
	for _, key := range []string{"a", "b", "c"} {
		require.NoError(t, g.Put(t.Context(), "lake", key, []byte(key)))
	}
	served := httptest.NewServer(&iamapi.Server{Roles: g.Roles, AccountID: "123456789012", Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(served.Close)
	run := func(script string) []string {
		cmd := exec.CommandContext(t.Context(), python, "-c", script)
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL_IAM="+served.URL, "AWS_DEFAULT_REGION=us-east-1", "AWS_ACCESS_KEY_ID=key",
			"AWS_SECRET_ACCESS_KEY=secret-key")
		out, err := cmd.CombinedOutput()
		require.NoErrorf(t, err, "%s", out)
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	said := run(team)
	require.Len(t, said, 5)
	require.Equal(t, []string{
		"EntityAlreadyExists Role with name team already exists.", "MalformedPolicyDocument Syntax errors in policy.",
		"NoSuchEntity Policy arn:aws:iam::123456789012:policy/reads does not exist or is not attachable.",
		"LimitExceeded Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1",
	}, said[:4])
	require.Contains(t, said[4], "InvalidAction ListRoles is not supported by the local cloud, which supports AddRoleToInstanceProfile, ")

	role, err := g.Roles.OfProfile("team")
	require.NoError(t, err)
	key, err := g.Roles.Key(t.Context(), role)
	require.NoError(t, err)
	for object, allowed := range map[string]bool{"a": true, "b": true, "c": false} {
		_, err := g.GetAs(t.Context(), key, "s3://lake/"+object)
		require.Equal(t, allowed, err == nil, "%s: %v", object, err)
	}
	require.Equal(t, []string{
		"DeleteConflict Cannot delete a policy attached to entities.",
		"DeleteConflict Cannot delete entity, must detach all policies first.",
		"DeleteConflict Cannot delete entity, must delete policies first.",
		"DeleteConflict Cannot delete entity, must remove roles from instance profile first.",
		"DeleteConflict Cannot delete entity, must remove roles from instance profile first.",
		"NoSuchEntity Instance Profile team cannot be found.",
	}, run(end))
	_, err = g.GetAs(t.Context(), key, "s3://lake/a")
	require.Error(t, err, "the key of a deleted role")

	unsigned, err := http.PostForm(served.URL, map[string][]string{"Action": {"CreateRole"}})
	require.NoError(t, err)
	defer unsigned.Body.Close()
	require.Equal(t, http.StatusForbidden, unsigned.StatusCode)
}
