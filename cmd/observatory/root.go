package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/plaintext"
)

// version is the commit that `make build` built.
var version = "a build without make, of an unknown commit"

const rootHelp = `One Pulumi program builds an EMR Spark platform that explains itself: on AWS with "pulumi up",
on this machine with "observatory up". While a local cloud runs, submit, status and dashboards
use it; otherwise they use AWS, with the default AWS SDK configuration and their flags.

With --json, results go to stdout, progress and errors to stderr. The exit code is 0 only on success.`

const rootExamples = `  observatory doctor                          # what this machine lacks
  observatory rehearse --stack dev            # the stack's full lifecycle, without an AWS account
  observatory preview --stack dev             # what pulumi would create, without an AWS account
  observatory up                              # the platform on this machine, and one Spark job
  observatory submit --wait job.py            # your own job
  observatory dashboards check                # every panel's query against real data
  observatory down                            # stop it and remove its state`

// Groups of commands, as help lists them.
const (
	groupCheck = "check"
	groupCloud = "cloud"
	groupWork  = "work"
	groupBuild = "build"
)

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "observatory",
		Short:         "An EMR Spark platform that explains itself",
		Long:          rootHelp,
		Example:       rootExamples,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(plaintext.ForTerminal(os.Stdout))
	root.SetErr(plaintext.ForTerminal(os.Stderr))
	var s settings
	root.PersistentFlags().StringVar(&s.state, "state", "", "`folder` of the local cloud (default .state below the project)")
	root.PersistentFlags().StringVarP(&s.stack, "stack", "s", defaultStack, "stack: Pulumi.<stack>.yaml")
	root.AddGroup(
		&cobra.Group{ID: groupCheck, Title: "Before anything is built:"},
		&cobra.Group{ID: groupCloud, Title: "The local cloud:"},
		&cobra.Group{ID: groupWork, Title: "Work on a platform, local or on AWS:"},
		&cobra.Group{ID: groupBuild, Title: "What is built and fetched:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupCheck, doctorCommand(&s), rehearseCommand(&s), previewCommand(&s), explainCommand(&s))
	add(groupCloud, upCommand(&s), downCommand(&s), pulumiCommand(&s))
	add(groupWork, statusCommand(&s), submitCommand(&s), stepCommand(&s), traceCommand(&s), dashboardsCommand(&s), guardCommand(),
		tunnelCommand(&s), observeCommand(&s), profileCommand())
	add(groupBuild, toolsCommand(), artifactsCommand())
	root.AddCommand(regionCommand(), probeCommand(), credentialsCommand(&s))
	root.Version = fmt.Sprintf("%s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	s.completeNames(root)
	return root
}
