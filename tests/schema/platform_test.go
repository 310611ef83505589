package schema_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// platformStack is the whole program as a stack on the real engine, and EMR's API without
// nodes.
type platformStack struct {
	*rehearse.Stage
	api    *awsemr.Client
	values map[string]string // configuration by bare key
}

// busy is EMR's API without nodes whose steps run until the cluster ends.
type busy struct{ emrapitest.Ready }

// RunStep ends with the step's context.
func (busy) RunStep(ctx context.Context, _ string, _ types.Step) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// seenLater is EMR's view of instance profiles: as on AWS, it does not see one at first.
func seenLater() func(profile string) bool {
	var asked sync.Map
	return func(profile string) bool { _, again := asked.LoadOrStore(profile, true); return again }
}

// openPlatform opens a stack with the configuration values of bare keys. Its clusters are
// in EMR's API, or else only recorded.
func openPlatform(t *testing.T, values map[string]string, inAPI bool) *platformStack {
	t.Helper()
	const region, account = "us-east-1", "123456789012"
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	store.Account = emrapi.Account{Region: region, ID: account}
	server, err := emrapi.New(store, busy{emrapitest.Ready{Store: store}}, slog.New(slog.DiscardHandler),
		emrapi.Options{SeesProfile: seenLater()})
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	p := &platformStack{values: values, api: awsemr.New(awsemr.Options{
		Region: region, BaseEndpoint: &served.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})}
	handlers := map[string]simulator.Handler{}
	if inAPI {
		handlers = localcloud.EMRHandlers(emr.Resources{API: p.api})
	}
	materials := trial.Materials(t)
	program := func(ctx *pulumi.Context) error {
		cfg, err := config.Parse(p.values)
		if err != nil {
			return err
		}
		return stacks.Build(ctx, cfg, materials)
	}
	p.Stage, err = rehearse.Open(t.Context(), program, rehearse.Options{
		Project: platform.Project, Stack: "keys", PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir(),
		Providers: simulator.Options{AccountID: account, Handlers: handlers},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func (p *platformStack) up(t *testing.T) auto.UpResult {
	t.Helper()
	result, err := p.Stack.Up(t.Context(), optup.SuppressProgress())
	if err != nil {
		_, diagnostics, _ := strings.Cut(err.Error(), "Diagnostics:")
		require.Failf(t, "the update failed", "%s", diagnostics)
	}
	return result
}

// requireNoChange requires an update to change nothing.
func (p *platformStack) requireNoChange(t *testing.T) {
	t.Helper()
	result := p.up(t)
	for operation, n := range *result.Summary.ResourceChanges {
		require.Equal(t, "same", operation, "%d resources\n%s", n, result.StdOut)
	}
}

func (p *platformStack) refresh(t *testing.T) {
	t.Helper()
	_, err := p.Stack.Refresh(t.Context(), optrefresh.SuppressProgress())
	require.NoError(t, err)
}

// clusterID returns the id of the running cluster of a key.
func (p *platformStack) clusterID(t *testing.T, key string) *string {
	t.Helper()
	answer, err := p.api.ListClusters(t.Context(), &awsemr.ListClustersInput{})
	require.NoError(t, err)
	return named(t, answer.Clusters, stacks.ClusterName("keys", key), func(c types.ClusterSummary) *string { return c.Name }).Id
}

// named returns the one of a list that has the name.
func named[T any](t *testing.T, list []T, name string, nameOf func(T) *string) T {
	t.Helper()
	at := slices.IndexFunc(list, func(item T) bool { return *nameOf(item) == name })
	require.GreaterOrEqualf(t, at, 0, "none of %d is named %s", len(list), name)
	return list[at]
}

// group returns an instance group by its name.
func (p *platformStack) group(t *testing.T, key, name string) types.InstanceGroup {
	t.Helper()
	answer, err := p.api.ListInstanceGroups(t.Context(), &awsemr.ListInstanceGroupsInput{ClusterId: p.clusterID(t, key)})
	require.NoError(t, err)
	return named(t, answer.InstanceGroups, name, func(g types.InstanceGroup) *string { return g.Name })
}

func (p *platformStack) resizeGroup(t *testing.T, key, name string, count int32) {
	t.Helper()
	_, err := p.api.ModifyInstanceGroups(t.Context(), &awsemr.ModifyInstanceGroupsInput{InstanceGroups: []types.InstanceGroupModifyConfig{
		{InstanceGroupId: p.group(t, key, name).Id, InstanceCount: &count},
	}})
	require.NoError(t, err)
}

// fleet returns an instance fleet by its name.
func (p *platformStack) fleet(t *testing.T, key, name string) types.InstanceFleet {
	t.Helper()
	answer, err := p.api.ListInstanceFleets(t.Context(), &awsemr.ListInstanceFleetsInput{ClusterId: p.clusterID(t, key)})
	require.NoError(t, err)
	return named(t, answer.InstanceFleets, name, func(f types.InstanceFleet) *string { return f.Name })
}

// resizeFleet sets a fleet's target on demand.
func (p *platformStack) resizeFleet(t *testing.T, key, name string, units int32) {
	t.Helper()
	_, err := p.api.ModifyInstanceFleet(t.Context(), &awsemr.ModifyInstanceFleetInput{
		ClusterId: p.clusterID(t, key), InstanceFleet: &types.InstanceFleetModifyConfig{
			InstanceFleetId: p.fleet(t, key, name).Id, TargetOnDemandCapacity: aws.Int32(units),
		},
	})
	require.NoError(t, err)
}
