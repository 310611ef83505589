package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
)

func submitCommand(s *settings) *cobra.Command {
	var o submit.Options
	var remote remoteStatus
	var outputsFile string
	var asJSON bool
	c := &cobra.Command{
		Use: "submit [flags] JAR|PY [ARG…]", Args: cobra.MinimumNArgs(1),
		Short: "Run a Spark application as an EMR step, on the local cloud or on AWS",
		Long: "Uploads the application to the data bucket and adds a step (command-runner.jar, spark-submit). If a local cloud is\n" +
			"running, uses its clusters and bucket; otherwise uses the default AWS SDK configuration, with --outputs, or with the id of\n" +
			"a cluster and --bucket.\n\n" +
			"The environment variable TRACEPARENT (W3C) makes the step part of that trace; its sampled flag is obeyed. Without it\n" +
			"the step begins a trace, sampled by the stack's tracing.samplingRatio, or by --conf " + platform.SparkSamplingRatio + ".\n" +
			"DAG, task and run come from Airflow's variables AIRFLOW_CTX_DAG_ID, AIRFLOW_CTX_TASK_ID and AIRFLOW_CTX_DAG_RUN_ID,\n" +
			"or from --conf " + platform.SparkAirflowDAG + ", " + platform.SparkAirflowTask + " and\n" +
			platform.SparkAirflowRun + ".\n\n" +
			"With --wait, shows where the time of its applications went, as the status page knows it: that of the local cloud, or\n" +
			"--status-url.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := submit.WithTraceparent(cmd.Context())
			var err error
			if o.Status.URL = remote.url; remote.url != "" {
				if o.Status.Access, err = remote.access(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			if err := defaults(ctx, s, outputsFile, cmd.InOrStdin(), &o); err != nil {
				return err
			}
			if o.AWS, err = local.AWSConfig(ctx); err != nil {
				return err
			}
			o.Application, o.Args = args[0], args[1:]
			o.Progress = progress.New(cmd.ErrOrStderr()).Writer()
			res, err := submit.Submit(ctx, o.WithAirflow())
			if asJSON && res.StepID != "" {
				if jsonErr := json.NewEncoder(cmd.OutOrStdout()).Encode(res); jsonErr != nil {
					return errors.Join(err, jsonErr)
				}
			} else if res.StepID != "" {
				fmt.Fprintln(cmd.OutOrStdout(), res)
				printPhases(cmd.OutOrStdout(), res.Phases)
			}
			return err
		},
	}
	c.Flags().SetInterspersed(false) // flags after the application are the application's
	c.Flags().BoolVar(&o.Wait, "wait", false, "wait until the step has ended")
	c.Flags().DurationVar(&o.LogWait, "log-wait", submit.LogWait, "with --wait: how long to wait for a failed step's log in S3")
	c.Flags().DurationVar(&o.PhasesWait, "phases-wait", submit.PhasesWait,
		"with --wait: how long to wait for the applications' phases; 0 does not ask")
	remote.addFlags(c, "status-url")
	c.Flags().StringVar(&o.Cluster, "cluster", "",
		"EMR cluster: its key in the configuration, its name or its id (j-…); may be left out if the stack has one")
	c.Flags().StringVar(&outputsFile, "outputs", "",
		"file with the stack output "+outputs.Observatory+" (JSON), - for stdin: has the names of clusters, and the bucket")
	c.Flags().StringVar(&o.Bucket, "bucket", "", "data bucket of the platform")
	c.Flags().StringVar(&o.Class, "class", "", "main class of a JAR")
	c.Flags().StringVar(&o.Name, "name", "", "step name (default: the file name)")
	c.Flags().StringVar(&o.DeployMode, "deploy-mode", "", "Spark deploy mode: client (default) or cluster")
	c.Flags().StringToStringVar(&o.Conf, "conf", nil, "Spark property, key=value; may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// printPhases prints where the time of applications went, and where to see it in full.
func printPhases(out io.Writer, phases []status.ApplicationPhases) {
	for _, of := range phases {
		fmt.Fprintf(out, "%s: %s\n", of.ApplicationID, of)
		if of.Page != "" {
			fmt.Fprintf(out, "  page: %s\n", of.Page)
		}
		if of.Timeline != of.Page {
			fmt.Fprintf(out, "  timeline: %s\n", of.Timeline)
		}
	}
}
