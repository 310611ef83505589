package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator"
)

// Providers of servers connect before they change a resource, with their arguments. What
// is read and previewed needs no connection.
func TestProvidersConnectBeforeTheyChangeAResource(t *testing.T) {
	var connected []string
	var refusal error
	c := dial(t, "kubernetes", simulator.Options{Connect: func(_ context.Context, pkg string, arguments map[string]any) error {
		connected = append(connected, fmt.Sprint(pkg, " ", arguments["kubeconfig"]))
		return refusal
	}})
	const kind, kubeconfig = "kubernetes:core/v1:ConfigMap", "clusters: [{cluster: {server: 'https://203.0.113.7:6443'}}]"
	_, err := c.Configure(t.Context(), &pulumirpc.ConfigureRequest{
		Args: c.marshal(values{"kubeconfig": resource.MakeSecret(resource.NewStringProperty(kubeconfig))}), AcceptSecrets: true,
	})
	require.NoError(t, err)
	object := c.marshal(values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": "a", "namespace": "observatory"}})
	create := &pulumirpc.CreateRequest{Urn: urn(kind), Properties: object}
	_, err = c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(kind), Properties: object, Preview: true})
	require.NoError(t, err)
	require.Empty(t, connected)

	made, err := c.Create(t.Context(), create)
	require.NoError(t, err)
	_, err = c.Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(kind), Id: made.GetId(), Properties: made.GetProperties(), Inputs: object})
	require.NoError(t, err)
	update := &pulumirpc.UpdateRequest{Urn: urn(kind), Id: made.GetId(), OldInputs: object, Olds: made.GetProperties(), News: object}
	_, err = c.Update(t.Context(), update)
	require.NoError(t, err)
	remove := &pulumirpc.DeleteRequest{Urn: urn(kind), Id: made.GetId(), Properties: made.GetProperties()}
	_, err = c.Delete(t.Context(), remove)
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]string{"kubernetes " + kubeconfig}, 3), connected)

	refusal = errors.New("nobody answers")
	_, err = c.Create(t.Context(), create)
	require.ErrorContains(t, err, "nobody answers")
	_, err = c.Update(t.Context(), update)
	require.ErrorContains(t, err, "nobody answers")
	_, err = c.Delete(t.Context(), remove)
	require.ErrorContains(t, err, "nobody answers")
}
