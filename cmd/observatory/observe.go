package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/observe/check"
	"github.com/emr-observatory/emr-observatory/observe/snippet"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

func observeCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use: "observe", Args: cobra.NoArgs,
		Short: "Observe EMR clusters that others start: with Terraform, CloudFormation, the AWS CLI, Airflow or Step Functions",
		Long: "Such a cluster needs the platform's additional security group, its policy on the role of the nodes, its bootstrap action,\n" +
			"its configurations and its tags: the stack output observe. They come from the running local cloud, or from --outputs.",
	}
	o := &stackOutputs{settings: s}
	c.PersistentFlags().StringVar(&o.file, "outputs", "",
		"`file` with the stack's outputs, as \""+writeOutputs+"\" prints them; - is stdin")
	c.AddCommand(observePrintCommand(o), observeCheckCommand(o))
	return c
}

// stackOutputs are a stack's, from a file or from the local cloud.
type stackOutputs struct {
	*settings
	file string
}

// read reports whether the outputs are those of the local cloud, which it then makes
// the one that the AWS SDK uses.
func (o *stackOutputs) read(ctx context.Context, stdin io.Reader) (out outputs.Outputs, isLocal bool, err error) {
	if o.file != "" {
		out, err = readOutputs(o.file, stdin)
		return out, false, err
	}
	p, err := o.platform()
	if err != nil {
		return out, false, err
	}
	running, isLocal, err := local.Connect(p.State)
	if err != nil {
		return out, false, err
	}
	if !isLocal {
		return out, false, errors.New("observe: no local cloud runs: the stack must be named by its outputs; " +
			"write them with `" + writeOutputs + " --stack NAME > outputs.json`, and pass --outputs outputs.json")
	}
	out, err = p.Outputs(ctx, running)
	return out, true, err
}

func observePrintCommand(o *stackOutputs) *cobra.Command {
	var tool, own string
	var asJSON bool
	names := make([]string, 0, len(snippet.Tools()))
	for _, t := range snippet.Tools() {
		names = append(names, string(t))
	}
	c := &cobra.Command{
		Use: "print --for TOOL", Args: cobra.NoArgs,
		Short: "Print what to paste into the definition of a cluster",
		Long: "Prints security groups, policy, bootstrap action, configurations and tags in the tool's own syntax. EMR replaces " +
			"configurations by\n" +
			"their key: with --configurations, the cluster's own are merged, and JVM options appended.",
		Example: "  observatory observe print --for terraform\n" +
			"  observatory observe print --for airflow --configurations mine.json --outputs outputs.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, _, err := o.read(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			settings := out.Observe
			if own != "" {
				if settings.Configurations, err = mergedWith(own, settings.Configurations); err != nil {
					return err
				}
			}
			text, err := snippet.Write(snippet.Tool(tool), settings)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), printed{tool, text, settings})
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
			return nil
		},
	}
	c.Flags().StringVar(&tool, "for", "", "the tool that starts the cluster: "+strings.Join(names, ", "))
	_ = c.MarkFlagRequired("for") // the flag exists
	c.Flags().StringVar(&own, "configurations", "", "`file` with the cluster's own configurations, a list as RunJobFlow takes it, to merge")
	c.Flags().BoolVar(&asJSON, "json", false, "print the text and its values as JSON")
	return c
}

// printed is what `observe print --json` prints.
type printed struct {
	For      string           `json:"for"`
	Text     string           `json:"text"`
	Settings observe.Settings `json:"settings"` // with the merged configurations
}

func mergedWith(file string, wanted []observe.Classification) ([]observe.Classification, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--configurations: %w", err)
	}
	own, err := observe.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("--configurations %s: %w", file, err)
	}
	return observe.Merge(own, wanted), nil
}

func observeCheckCommand(o *stackOutputs) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check CLUSTER", Args: cobra.ExactArgs(1),
		Short: "Report what a cluster lacks for observation, each with its remedy",
		Long: "Reads the cluster (j-…) from EMR, its role from IAM and its subnet from EC2, and compares them with the platform's settings.\n" +
			"It changes nothing. The exit code is 1 if anything is missing. Rights: elasticmapreduce:Describe* and List*,\n" +
			"iam:GetInstanceProfile, iam:SimulatePrincipalPolicy, ec2:DescribeSubnets, ec2:DescribeRouteTables. The local cloud\n" +
			"simulates no policies and has no EC2: the report says what was not examined. Tested against fakes of these two, not against AWS.",
		Example: "  observatory observe check j-0123456789ABC --outputs outputs.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, isLocal, err := o.read(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			cfg, err := local.AWSConfig(cmd.Context())
			if err != nil {
				return err
			}
			clients := check.Clients{EMR: emr.NewFromConfig(cfg)}
			if !isLocal {
				clients.IAM, clients.EC2 = iam.NewFromConfig(cfg), ec2.NewFromConfig(cfg)
			}
			report, err := check.Run(cmd.Context(), clients, args[0], check.Platform{
				Observe: out.Observe, KMSKeyARN: out.KMSKeyARN, VPCID: out.Network.VPCID, SubnetIDs: out.Network.SubnetIDs,
				ControlPrivateIP: out.ControlPrivateIP,
			})
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), report)
			} else {
				printReport(cmd.OutOrStdout(), report)
			}
			if err == nil && len(report.Misses) > 0 {
				err = exitCode(1)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

func printReport(out io.Writer, r check.Report) {
	fmt.Fprintf(out, "cluster %s (%s), %s, %s\n", r.Cluster, r.Name, r.Release, r.State)
	for _, m := range r.Misses {
		fmt.Fprintf(out, "  %s\n    found:  %s\n    rule:   %s\n    remedy: %s\n", m.Part, m.Found, m.Rule, m.Remedy)
	}
	for _, part := range r.Unexamined {
		fmt.Fprintf(out, "  %s: not examined, since the local cloud cannot say\n", part)
	}
	if len(r.Misses) == 0 {
		fmt.Fprintln(out, "nothing is missing")
	}
	if r.StartsAgain() {
		fmt.Fprintln(out, check.StartAgain)
	}
}
