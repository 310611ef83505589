package stacks_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/record"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// edited are the values of stack dev with some keys of sections set; nil removes one.
func edited(t *testing.T, edits map[string]map[string]any) map[string]string {
	t.Helper()
	values := maps.Clone(trial.Values(t, "dev"))
	for section, keys := range edits {
		name := platform.Project + ":" + section
		object := map[string]any{}
		if values[name] != "" {
			require.NoError(t, json.Unmarshal([]byte(values[name]), &object))
		}
		for k, v := range keys {
			if object[k] = v; v == nil {
				delete(object, k)
			}
		}
		text, err := json.Marshal(object)
		require.NoError(t, err)
		values[name] = string(text)
	}
	return values
}

func tunnelled(t *testing.T) map[string]string {
	t.Helper()
	return edited(t, map[string]map[string]any{
		"controlNode": {"access": "tunnel", "apiUrl": "https://127.0.0.1:16443"}, "grafana": {"url": "https://127.0.0.1:13000"},
	})
}

// TestEveryAccessIsRehearsed takes stack dev through its life with each way to reach
// the control node, and once with the history's tables in Glue. The providers must get the address that the certificates name.
func TestEveryAccessIsRehearsed(t *testing.T) {
	engine, program := trial.Pulumi(t), trial.Program(trial.Materials(t))
	for name, c := range map[string]struct {
		values   map[string]string
		existing []record.Resource
	}{
		"vpc, with the history in Athena": {
			values: edited(t, map[string]map[string]any{"controlNode": {"access": "vpc"}, "profiler": {"athena": true}}),
		},
		"tunnel": {values: tunnelled(t)},
		"public in an existing VPC": {
			edited(t, map[string]map[string]any{"network": {
				"vpcId": "vpc-0123abcd", "subnetIds": []string{"subnet-0123abcd"}, "publicSubnetId": "subnet-0123abce", "availabilityZones": nil,
			}}),
			record.Network{
				VPC: "vpc-0123abcd", CIDR: "10.0.0.0/16", Private: []record.Subnet{{ID: "subnet-0123abcd", CIDR: "10.0.0.0/24", Zone: "us-east-1a"}},
				Public: []record.Subnet{{ID: "subnet-0123abce", CIDR: "10.0.1.0/24", Zone: "us-east-1b"}},
			}.Resources(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			values := auto.ConfigMap{}
			for k, v := range c.values {
				values[k] = auto.ConfigValue{Value: v}
			}
			report, err := rehearse.Run(t.Context(), program, rehearse.Options{
				Project: platform.Project, Stack: "dev", Config: values, PulumiCommand: engine, WorkDir: t.TempDir(), Existing: c.existing,
			})
			require.NoError(t, err)
			require.Greater(t, report.Checked, 100)
		})
	}
}

// TestAddressesAgree compares what connects to the control node with the names in
// its certificates.
func TestAddressesAgree(t *testing.T) {
	m := trial.Materials(t)
	for name, c := range map[string]struct {
		values       map[string]string
		api, grafana string
	}{
		"public": {trial.Values(t, "dev"), "https://" + trial.PublicAddress + ":6443", "https://" + trial.PublicAddress + ":3000"},
		"vpc": {edited(t, map[string]map[string]any{"controlNode": {"access": "vpc"}}), "https://10.0.0.50:6443",
			"https://10.0.0.50:3000"},
		"tunnel": {tunnelled(t), "https://127.0.0.1:16443", "https://127.0.0.1:13000"},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := recorder.Run(trial.Program(m), append(trial.Answers(), recorder.WithConfig(c.values))...)
			require.NoError(t, err)
			input := func(token, name, key string) string {
				r, err := rec.One(token, name)
				require.NoError(t, err)
				return fmt.Sprint(r.Inputs[resource.PropertyKey(key)])
			}
			require.Contains(t, input("pulumi:providers:kubernetes", "kubernetes", "kubeconfig"), c.api)
			require.Contains(t, input("command:local:Command", "control-gate", "environment"), c.api)
			require.Contains(t, input("pulumi:providers:grafana", "grafana", "url"), c.grafana)
			for _, reached := range []struct{ url, names string }{
				{c.api, sansOf(t, input("aws:ec2/instance:Instance", "control-instance", "userData"))},
				{c.grafana, input("tls:index/certRequest:CertRequest", "workloads-grafana-request", "ipAddresses")},
				{c.grafana, input("tls:index/certRequest:CertRequest", "workloads-status-request", "ipAddresses")},
			} {
				u, err := url.Parse(reached.url)
				require.NoError(t, err)
				require.Contains(t, reached.names, u.Hostname())
			}
		})
	}
}

// sansOf returns the part of the user data that lists the names of the API's certificate.
func sansOf(t *testing.T, userData string) string {
	t.Helper()
	_, list, found := strings.Cut(userData, "tls-san:\n")
	require.True(t, found)
	names, _, found := strings.Cut(list, "write-kubeconfig-mode")
	require.True(t, found)
	return names
}

// The cluster waits for the control node: an update that cannot reach it has started
// nothing that is billed by the hour and node.
func TestClusterWaitsForTheControlNode(t *testing.T) {
	for _, stack := range []string{"dev", "local"} {
		rec, _ := build(t, stack)
		cluster, err := rec.One("aws:emr/cluster:Cluster", "emr-main-cluster")
		require.NoError(t, err)
		require.Contains(t, cluster.Dependencies, "control-gate")
		role, err := rec.One("aws:iam/role:Role", "emr-main-node")
		require.NoError(t, err)
		require.NotContains(t, role.Dependencies, "control-gate")
	}
}

// `pulumi up` runs Program. It refuses the networks of examples, which a rehearsal
// accepts, together with everything else.
func TestUpRefusesNetworksOfExamples(t *testing.T) {
	values := edited(t, map[string]map[string]any{"clusters": {"main": map[string]any{"releaseLabel": "latest"}}})
	rec, err := recorder.Run(stacks.Program, append(trial.Answers(), recorder.WithConfig(values))...)
	require.ErrorContains(t, err, `emr-observatory:operatorCidrs[0]: "203.0.113.0/24" must not overlap a network of documentation`)
	require.ErrorContains(t, err, "`curl https://checkip.amazonaws.com`")
	require.ErrorContains(t, err, "emr-observatory:clusters.main.releaseLabel")
	require.Empty(t, rec.Resources)

	values = edited(t, map[string]map[string]any{"controlNode": {"access": "vpc"}})
	delete(values, platform.Project+":operatorCidrs")
	_, err = recorder.Run(stacks.Program, append(trial.Answers(), recorder.WithConfig(values))...)
	require.ErrorContains(t, err, "emr-observatory:operatorCidrs: []")
	require.ErrorContains(t, err, "set controlNode.access to public or tunnel")
}

func TestControlInstanceIsFoundByItsTags(t *testing.T) {
	rec, _ := build(t, "dev")
	instance, err := rec.One("aws:ec2/instance:Instance", "control-instance")
	require.NoError(t, err)
	p, err := rec.One("pulumi:providers:aws", "aws")
	require.NoError(t, err)
	all := fmt.Sprint(instance.Inputs["tags"], p.Inputs["defaultTags"])
	tags := stacks.ControlInstanceTags("test")
	require.Equal(t, []string{"Name", platform.TagProject, platform.TagStack}, slices.Sorted(maps.Keys(tags)))
	for k, v := range tags {
		require.Contains(t, all, k)
		require.Contains(t, all, v)
	}
}
