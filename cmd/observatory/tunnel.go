package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// forwarding is one port of the control node at a local port.
type forwarding struct {
	Name       string `json:"name"`
	RemotePort int    `json:"remotePort"`
	LocalPort  int    `json:"localPort"`
	Command    string `json:"command"` // for sh
}

func tunnelCommand(s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "tunnel", Args: cobra.NoArgs,
		Short: "Print the commands that forward a stack's ports to this machine",
		Long: "For a stack with controlNode.access tunnel: one command of the AWS CLI for each port, to be run in a terminal of its own\n" +
			"while `pulumi up` waits for the control node, and later to open Grafana. They find the instance by its tags, so they work\n" +
			"before the stack has outputs. They need the CLI's Session Manager plugin and the right to ssm:StartSession.",
		Example: "  observatory tunnel --stack dev",
		RunE: func(cmd *cobra.Command, _ []string) error {
			project, err := projectDir()
			if err != nil {
				return err
			}
			file, cfg, err := config.ReadStackFile(project, s.stack)
			if err != nil {
				return err
			}
			if access := cfg.ControlNode.Access; access != schema.AccessTunnel {
				return fmt.Errorf("%s: controlNode.access is %s, which needs no tunnel; docs/guides/access.md compares the ways", file.Path, access)
			}
			list, err := forwardings(s.stack, cfg)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), list)
			}
			printForwardings(cmd.OutOrStdout(), list)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// forwardings are the ports that a stack's configuration names, and those of the status
// page and the tools, which keep their numbers.
func forwardings(stack string, cfg schema.Config) ([]forwarding, error) {
	list := []forwarding{
		{Name: "Kubernetes API", RemotePort: int(platform.KubernetesAPI), LocalPort: schema.TunnelPort(cfg.ControlNode.APIURL)},
		{Name: "Grafana", RemotePort: int(platform.Grafana), LocalPort: schema.TunnelPort(cfg.Grafana.URL)},
		{Name: "status", RemotePort: int(platform.Status), LocalPort: int(platform.Status)},
	}
	if cfg.Profiler.Enabled {
		list = append(list, forwarding{Name: "tools", RemotePort: int(platform.Tools), LocalPort: int(platform.Tools)})
	}
	for i, f := range list {
		ports, err := json.Marshal(map[string][]string{
			"portNumber": {strconv.Itoa(f.RemotePort)}, "localPortNumber": {strconv.Itoa(f.LocalPort)},
		})
		if err != nil {
			return nil, fmt.Errorf("render ports of %s: %w", f.Name, err)
		}
		// The document forwards to a port of the instance itself (Systems Manager User
		// Guide, "Starting a session (port forwarding)").
		list[i].Command = strings.Join([]string{
			"aws ssm start-session --region", cfg.Region, "--target", findInstance(stack, cfg.Region),
			"--document-name AWS-StartPortForwardingSession --parameters", shellWord(string(ports)),
		}, " ")
	}
	return list, nil
}

// findInstance is a word of shell that becomes the id of the control node's
// instance.
func findInstance(stack, region string) string {
	filters := []string{"Name=instance-state-name,Values=pending,running"}
	tags := stacks.ControlInstanceTags(stack)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		filters = append(filters, shellWord("Name=tag:"+key+",Values="+tags[key]))
	}
	const query = "'Reservations[].Instances[].InstanceId'"
	return fmt.Sprintf(`"$(aws ec2 describe-instances --region %s --filters %s --query %s --output text)"`,
		region, strings.Join(filters, " "), query)
}

// shellWord quotes text for sh.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// plain matches text that sh takes as one word as it is.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// wordOf quotes text for sh if it needs that.
func wordOf(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return shellWord(text)
}

func printForwardings(out io.Writer, list []forwarding) {
	fmt.Fprintln(out, "# Run each line in a terminal of its own, as soon as the instance runs, and keep it open.")
	for _, f := range list {
		fmt.Fprintf(out, "# %s at port %d\n%s\n", f.Name, f.LocalPort, f.Command)
	}
}
