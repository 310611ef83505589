package emr_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
)

// identityScript prints the account, its arguments and the instance type.
const identityScript = `#!/bin/bash
t=$(curl -sX PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 60')
echo "$(id -un) $* $(curl -s -H "X-aws-ec2-metadata-token: $t" http://169.254.169.254/latest/meta-data/instance-type)"
`

func TestFailedBootstrapActionTerminatesTheCluster(t *testing.T) {
	c := newCloud(t)
	first := c.putAction("first.sh", identityScript)
	failing := c.putAction("failing.sh", `#!/bin/bash
grep -q '"isMaster": false' /mnt/var/lib/info/instance.json && exit 0
for i in $(seq 500); do echo line $i >&2; done
exit 3
`)
	never := c.putAction("never.sh", "#!/bin/bash\n")
	id, err := c.CreateCluster(t.Context(), inputs(first, failing, never))
	require.ErrorContains(t, err, "TERMINATED_WITH_ERRORS: BOOTSTRAP_FAILURE: On the primary instance")
	require.ErrorContains(t, err, "bootstrap action 2 (failing.sh) returned a non-zero return code 3; the end of its stderr:")
	require.ErrorContains(t, err, "line 500")
	require.NotContains(t, err.Error(), "line 1\n", "the end only")

	found := c.onlyCluster()
	require.Equal(t, *found.Id, id, "beside the error")
	require.Equal(t, types.ClusterStateTerminatedWithErrors, found.Status.State)
	require.Equal(t, types.ClusterStateChangeReasonCodeBootstrapFailure, found.Status.StateChangeReason.Code)
	require.Len(t, found.Status.ErrorDetails, 1)
	require.Equal(t, "BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE", *found.Status.ErrorDetails[0].ErrorCode)
	members := c.instances(*found.Id)
	for kind := range members {
		node := *found.Id + "/node/" + *members[kind].Ec2InstanceId + "/bootstrap-actions/"
		require.Equal(t, "hadoop the arguments "+kind+"\n", c.log(node+"1/stdout.gz"), "as hadoop, with its arguments, on the group's type")
	}
	primary := *found.Id + "/node/" + *members["m6g.xlarge"].Ec2InstanceId + "/bootstrap-actions/"
	require.True(t, strings.HasPrefix(c.log(primary+"2/stderr.gz"), "line 1\n"), "the whole log is under the log URI")
	require.Contains(t, c.log(primary+"2/controller.gz"), "waitProcessCompletion ended with exit code 3")
	exists, err := c.Objects.Exists(t.Context(), bucket, "logs/"+primary+"3/controller.gz")
	require.NoError(t, err)
	require.False(t, exists, "actions after a failed one do not run")
	c.requireRemoved(*found.Id)
}

func TestMissingBootstrapScriptTerminatesTheCluster(t *testing.T) {
	c := newCloud(t)
	in := inputs(map[string]any{"name": "observatory", "path": "s3://" + bucket + "/none.sh"})
	delete(in, "coreInstanceGroup")
	in["configurationsJson"] = `[{"Classification":"spark-defaults","Properties":{"spark.a":"1"}},` +
		`{"Classification":"yarn-env","Configurations":[{"Classification":"export","Properties":{}}],"Properties":{}}]`
	_, err := c.CreateCluster(t.Context(), in)
	require.ErrorContains(t, err, "bootstrap action 1 (observatory) could not be downloaded: read s3://data/none.sh")
	found := c.onlyCluster()
	require.Equal(t, types.ClusterStateTerminatedWithErrors, found.Status.State)
	require.Equal(t, types.ClusterStateChangeReasonCodeBootstrapFailure, found.Status.StateChangeReason.Code)
	require.Equal(t, "BOOTSTRAP_FAILURE_BA_DOWNLOAD_FAILED_PRIMARY", *found.Status.ErrorDetails[0].ErrorCode)
	require.Len(t, found.Configurations, 2, "as they were given")
	require.Equal(t, map[string]string{"spark.a": "1"}, found.Configurations[0].Properties)
	require.Equal(t, "export", *found.Configurations[1].Configurations[0].Classification)
	c.requireRemoved(*found.Id)
}

// A node fetches its actions with its own role: without a policy that allows it the
// cluster ends, with one that is attached the action runs.
func TestNodesFetchActionsAsTheirRole(t *testing.T) {
	c := newCloud(t)
	roles, ctx := c.Objects.Roles, t.Context()
	require.NoError(t, roles.Put(ctx, "team"))
	c.Credentials = func(ctx context.Context, _ string) (machine.RoleCredentials, error) {
		key, err := roles.Key(ctx, "team")
		return machine.RoleCredentials{RoleName: "team", AccessKeyID: key.ID, SecretAccessKey: key.Secret}, err
	}
	in := inputs(c.putAction("ours.sh", "#!/bin/sh\nexit 3\n"))
	delete(in, "coreInstanceGroup")
	_, err := c.CreateCluster(ctx, in)
	require.ErrorContains(t, err, "BOOTSTRAP_FAILURE: On the primary instance")
	require.ErrorContains(t, err, "bootstrap action 1 (ours.sh) could not be downloaded: read s3://data/ours.sh")
	require.ErrorContains(t, err, "AccessDenied")

	const arn = "arn:aws:iam::123456789012:policy/observed-nodes"
	require.NoError(t, roles.PutManaged(ctx, arn, `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::data/ours.sh"}]}`))
	require.NoError(t, roles.Attach(ctx, "team", arn))
	_, err = c.CreateCluster(ctx, in)
	require.ErrorContains(t, err, "bootstrap action 1 (ours.sh) returned a non-zero return code 3")
}

func TestExitedDaemonIsReportedWithItsLog(t *testing.T) {
	c := newCloud(t)
	in := inputs()
	delete(in, "coreInstanceGroup")
	in["configurationsJson"] = `[{"Classification":"yarn-env","Configurations":[
		{"Classification":"export","Properties":{"YARN_RESOURCEMANAGER_OPTS":"-XX:+NoSuchOption"}}]}]`
	_, err := c.CreateCluster(t.Context(), in)
	require.ErrorContains(t, err, "hadoop-yarn-resourcemanager.service on ip-10-0-2-")
	require.Regexp(t, `ended ([3-9]|\d\d) times; the end of \S+/hadoop-yarn-resourcemanager-\S+.log:`, err.Error())
	require.ErrorContains(t, err, "Unrecognized VM option 'NoSuchOption'", "the end of the daemon's log")
	found := c.onlyCluster()
	require.Equal(t, types.ClusterStateChangeReasonCodeInternalError, found.Status.StateChangeReason.Code)
	require.Equal(t, "export", *found.Configurations[0].Configurations[0].Classification, "as EMR's API shows them")
	node := c.instances(*found.Id)["m6g.xlarge"]
	host, _, _ := strings.Cut(*node.PrivateDnsName, ".")
	key := *found.Id + "/node/" + *node.Ec2InstanceId + "/applications/hadoop-yarn/hadoop-yarn-resourcemanager-" + host + ".log.gz"
	require.Contains(t, c.log(key), "NoSuchOption")
	c.requireRemoved(*found.Id)
}

func TestInvalidInputsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"no subnet":      {func(in map[string]any) { delete(in, "ec2Attributes") }, "ec2Attributes.subnetId"},
		"configurations": {func(in map[string]any) { in["configurationsJson"] = "[" }, "configurationsJson"},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			c.change(in)
			_, err := emr.Resources{}.CreateCluster(t.Context(), in)
			require.ErrorContains(t, err, c.want, "before any call")
		})
	}
}

// Machines end with the process that runs them: afterwards none of its clusters may
// appear ready for steps.
func TestClustersOfAnEarlierProcessAreTerminated(t *testing.T) {
	r := regiontest.Region(t)
	dir := t.TempDir()
	store, err := emrapi.Open(dir)
	require.NoError(t, err)
	path := map[types.ClusterState][]types.ClusterState{
		types.ClusterStateStarting:      nil,
		types.ClusterStateBootstrapping: {types.ClusterStateBootstrapping},
		types.ClusterStateWaiting:       {types.ClusterStateBootstrapping, types.ClusterStateWaiting},
		types.ClusterStateRunning:       {types.ClusterStateBootstrapping, types.ClusterStateWaiting, types.ClusterStateRunning},
		types.ClusterStateTerminating:   {types.ClusterStateTerminating},
		types.ClusterStateTerminated:    {types.ClusterStateTerminating, types.ClusterStateTerminated},
	}
	left := r.Root("i-left")
	require.NoError(t, os.MkdirAll(left, 0o755))
	ids := map[types.ClusterState]string{}
	for state, moves := range path {
		id, err := store.PutJobFlow(awsemr.RunJobFlowInput{
			Name: aws.String("test"), ReleaseLabel: aws.String("emr-7.10.0"), ServiceRole: aws.String("emr"), JobFlowRole: aws.String("nodes"),
			Instances: &types.JobFlowInstancesConfig{
				Ec2SubnetId: aws.String("subnet-1"), InstanceGroups: []types.InstanceGroupConfig{
					{InstanceRole: types.InstanceRoleTypeMaster, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(1)},
				},
			},
		})
		require.NoError(t, err)
		ids[state] = id
		groups, err := store.InstanceGroups(id)
		require.NoError(t, err)
		if state == types.ClusterStateRunning {
			lost := types.Instance{Id: aws.String("ci-1"), Ec2InstanceId: aws.String("i-left"), InstanceGroupId: groups[0].Id}
			require.NoError(t, store.PutInstance(id, lost))
		}
		for _, m := range moves {
			require.NoError(t, store.SetClusterState(id, m, types.ClusterStateChangeReason{}))
		}
	}
	store, err = emrapi.Open(dir)
	require.NoError(t, err)
	require.NoError(t, (&emr.Service{Region: r, Store: store}).TerminateLost())
	for state, id := range ids {
		found, err := store.Cluster(id)
		require.NoError(t, err)
		if state == types.ClusterStateTerminated {
			require.Equal(t, state, found.Status.State, "a terminated cluster stays as it was")
			continue
		}
		require.Equal(t, types.ClusterStateTerminatedWithErrors, found.Status.State, "from %s", state)
		require.Contains(t, *found.Status.StateChangeReason.Message, "machines are gone")
	}
	require.NoDirExists(t, left)
}
