package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/record"
	"github.com/emr-observatory/emr-observatory/localcloud/rehearse"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

func rehearseCommand(s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "rehearse", Args: cobra.NoArgs,
		Short: "Take a stack through its whole life without an account",
		Long: "Runs the program on the real engine with recorded providers: preview, up, up again, destroy. Every resource's inputs are\n" +
			"checked against the SDKs' types and the services' rules; the second up must change nothing; what is protected must refuse\n" +
			"to be destroyed. All faults are told, and nothing real is touched. Secrets and ESC environments are not opened; a network\n" +
			"that the stack's file names is taken to exist.",
		Example: "  observatory rehearse --stack dev\n  observatory rehearse --stack local --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return perform(cmd, s, asJSON, rehearse.Run, nil)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

func previewCommand(s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "preview", Args: cobra.NoArgs,
		Short: "Show what a new stack would consist of, without an account",
		Long: "The engine's own preview of a stack that is not there yet, with recorded providers in place of AWS: what `pulumi preview`\n" +
			"prints in an empty account. For what an existing stack would change, run `pulumi preview` with its back end.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var account io.Writer
			if !asJSON {
				account = cmd.OutOrStdout()
			}
			return perform(cmd, s, asJSON, rehearse.Preview, account)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

type performance func(context.Context, pulumi.RunFunc, rehearse.Options) (rehearse.Report, error)

// perform plays a stack on recorded providers and reports on it; account gets
// the engine's own output.
func perform(cmd *cobra.Command, s *settings, asJSON bool, play performance, account io.Writer) error {
	p := newProgress(cmd.ErrOrStderr())
	program, options, err := rehearsal(cmd.Context(), s, p)
	if err != nil {
		return err
	}
	options.Progress, options.Output = p.part, account
	report, err := play(cmd.Context(), program, options)
	if asJSON {
		return errors.Join(writeJSON(cmd.OutOrStdout(), report), err)
	}
	if err == nil {
		summarise(cmd.OutOrStdout(), report)
	}
	return err
}

func summarise(out io.Writer, r rehearse.Report) {
	var took float64
	for _, p := range r.Phases {
		took += p.Seconds
	}
	fmt.Fprintf(out, "stack %s: %d resources checked in %d phases, %s, no fault\n", r.Stack, r.Checked, len(r.Phases), time.Duration(took*float64(time.Second)).Round(100*time.Millisecond))
	if len(r.Protected) > 0 {
		fmt.Fprintf(out, "%d refused to be destroyed until their protection was taken off:\n", len(r.Protected))
	}
	for _, urn := range r.Protected {
		fmt.Fprintln(out, "  "+name(urn))
	}
}

// rehearsal reads the stack's file and finds the materials: what `pulumi up`
// would start with. All that is wrong with either is told before the engine
// starts.
func rehearsal(ctx context.Context, s *settings, p *progress) (pulumi.RunFunc, rehearse.Options, error) {
	var o rehearse.Options
	project, err := projectDir()
	if err != nil {
		return nil, o, err
	}
	file, cfg, err := config.ReadStackFile(project, s.stack)
	if err != nil {
		return nil, o, err
	}
	if len(file.Environments) > 0 {
		p.say("%s: environments are not opened, values from them count as not set: %s", file.Path, strings.Join(file.Environments, ", "))
	}
	o = rehearse.Options{Project: platform.Project, Stack: s.stack, Config: asConfigMap(file.Values), Existing: existingNetwork(cfg)}
	if o.Release, err = release(cfg, file.Values); err != nil {
		return nil, o, err
	}
	if o.PulumiCommand, err = servers.Build(ctx, servers.Pulumi, p.news); err != nil {
		return nil, o, err
	}
	materials, err := materialsOf(ctx, project, cfg, p)
	program := func(ctx *pulumi.Context) error {
		cfg, err := config.Load(ctx)
		if err != nil {
			return fmt.Errorf("read configuration of stack %s: %w", ctx.Stack(), err)
		}
		return stacks.Build(ctx, cfg, materials)
	}
	return program, o, err
}

// materialsOf makes what of the nodes' artifacts is missing, and loads all.
func materialsOf(ctx context.Context, project string, cfg config.Config, p *progress) (stacks.Materials, error) {
	if err := fulfil(ctx, p.news, cfg.EMR.Architectures); err != nil {
		return stacks.Materials{}, err
	}
	return stacks.LoadMaterials(project, cfg)
}

// existingNetwork is taken to be in the account as the stack's file names it.
// Addresses of its subnets are not known: each is as wide as network.cidr.
func existingNetwork(cfg config.Config) []record.Resource {
	var out []record.Resource
	zones := cfg.Network.AvailabilityZones
	for i, id := range cfg.Network.SubnetIDs {
		zone := cfg.Region + string(rune('a'+i))
		if i < len(zones) {
			zone = zones[i]
		}
		out = append(out, record.Resource{Type: "aws:ec2/subnet:Subnet", ID: id, URN: id, Outputs: resource.NewPropertyMapFromMap(map[string]any{
			"vpcId": cfg.Network.VPCID, "cidrBlock": cfg.Network.CIDR, "availabilityZone": zone,
		})})
	}
	return out
}

func asConfigMap(values map[string]string) auto.ConfigMap {
	out := auto.ConfigMap{}
	for k, v := range values {
		out[k] = auto.ConfigValue{Value: v}
	}
	return out
}

// release is the configuration that goes before a destroy: a cluster with
// termination protection refuses to end.
func release(cfg config.Config, values map[string]string) (auto.ConfigMap, error) {
	if !cfg.EMR.TerminationProtection {
		return nil, nil
	}
	const key = platform.Project + ":emr"
	var cluster map[string]any
	if err := json.Unmarshal([]byte(values[key]), &cluster); err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	cluster["terminationProtection"] = false
	text, err := json.Marshal(cluster)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", key, err)
	}
	return auto.ConfigMap{key: {Value: string(text)}}, nil
}
