// Package rehearsal prepares a stack for simulator/rehearse from what `pulumi up`
// would read: the stack's file and the artifact store. It needs no account and
// opens neither secrets nor ESC environments.
package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/simulator/record"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// Prepare reads the stack's file, and builds and loads what nodes install: in the
// development build, since no node starts. It reports everything wrong with either
// before the engine starts.
func Prepare(ctx context.Context, project, stack string, log *progress.Log) (pulumi.RunFunc, rehearse.Options, error) {
	var o rehearse.Options
	file, cfg, err := config.ReadStackFile(project, stack)
	if err != nil {
		return nil, o, fmt.Errorf("read configuration of stack %s: %w", stack, err)
	}
	if len(file.Environments) > 0 {
		log.Printf("%s: environments are not opened, values from them count as not set: %s", file.Path, strings.Join(file.Environments, ", "))
	}
	for _, v := range violation.All(onlyReal(cfg)) {
		log.Printf("`pulumi up` refuses: %v", v)
	}
	o = rehearse.Options{
		Project: platform.Project, Stack: stack, Config: configMap(file.Values), Existing: existingNetwork(cfg), Progress: log.Step,
	}
	if o.Unprotect, err = unprotectConfig(cfg, file.Values); err != nil {
		return nil, o, err
	}
	if o.PulumiCommand, err = servers.Build(ctx, servers.Pulumi, log.StepUnlessReady); err != nil {
		return nil, o, fmt.Errorf("build the engine: %w", err)
	}
	if err := local.FetchArtifacts(ctx, log.StepUnlessReady, artifacts.Development, cfg.Architectures); err != nil {
		return nil, o, err
	}
	materials, err := stacks.LoadMaterials(project, cfg, artifacts.Development)
	if err != nil {
		return nil, o, fmt.Errorf("load what nodes install: %w", err)
	}
	program := func(ctx *pulumi.Context) error {
		cfg, err := config.Load(ctx)
		if err != nil {
			return fmt.Errorf("read configuration of stack %s: %w", ctx.Stack(), err)
		}
		return stacks.Build(ctx, cfg, materials)
	}
	return program, o, nil
}

// onlyReal reports what a rehearsal accepts and `pulumi up` refuses.
func onlyReal(cfg schema.Config) error {
	l := violation.List{Prefix: platform.Project + ":"}
	cfg.CheckOperatorsExist(&l)
	return l.Err()
}

// existingNetwork returns the network that the stack's file names, as if the account had
// it. Address ranges are unknown: each subnet gets all of network.cidr.
func existingNetwork(cfg schema.Config) []record.Resource {
	if cfg.Network.VPCID == "" {
		return nil
	}
	n := record.Network{VPC: cfg.Network.VPCID, CIDR: cfg.Network.CIDR}
	subnet := func(i int, id string) record.Subnet {
		return record.Subnet{ID: id, CIDR: cfg.Network.CIDR, Zone: cfg.Region + string(rune('a'+i))}
	}
	for i, id := range cfg.Network.SubnetIDs {
		n.Private = append(n.Private, subnet(i, id))
	}
	if public := cfg.Network.PublicSubnetID; public != "" {
		n.Public = append(n.Public, subnet(len(n.Private), public))
	}
	return n.Resources()
}

func configMap(values map[string]string) auto.ConfigMap {
	out := auto.ConfigMap{}
	for k, v := range values {
		out[k] = auto.ConfigValue{Value: v}
	}
	return out
}

// unprotectConfig returns the configuration to apply before a destroy: without
// termination protection, with which a cluster refuses to terminate. It is nil if
// no cluster has it.
func unprotectConfig(cfg schema.Config, values map[string]string) (auto.ConfigMap, error) {
	protected := slices.DeleteFunc(cfg.ClusterKeys(), func(key string) bool { return !cfg.Clusters[key].TerminationProtection })
	if len(protected) == 0 {
		return nil, nil
	}
	const name = platform.Project + ":clusters"
	var clusters map[string]map[string]any
	if err := json.Unmarshal([]byte(values[name]), &clusters); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, key := range protected {
		clusters[key]["terminationProtection"] = false
	}
	text, err := json.Marshal(clusters)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return auto.ConfigMap{name: {Value: string(text)}}, nil
}
