package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

func submitCommand(s *settings) *cobra.Command {
	var o submit.Options
	f := stepFlags{settings: s, o: &o}
	c := &cobra.Command{
		Use: "submit [flags] JAR|PY [ARG…]", Args: cobra.MinimumNArgs(1),
		Short: "Run a Spark application as an EMR step, on the local cloud or on AWS",
		Long: "Uploads the application to the data bucket and adds a step (command-runner.jar, spark-submit). If a local cloud is\n" +
			"running, uses its clusters and bucket; otherwise uses the default AWS SDK configuration, with --outputs, or with the id of\n" +
			"a cluster and --bucket.\n\n" +
			"The environment variable TRACEPARENT (W3C) makes the step part of that trace; its sampled flag is obeyed. Without it\n" +
			"the step begins a trace, sampled by the stack's tracing.samplingRatio, or by --conf " + platform.SparkSamplingRatio + ".\n" +
			"In a task of Airflow, its environment gives DAG, task, run and try; --conf sets them elsewhere:\n" +
			airflowProperties() + "\n\n" +
			"With --wait, tells what the step does or waits for, and where the time of its applications went, as the status page\n" +
			"knows it: that of the local cloud, or --status-url. Ctrl-C ends the wait and not the step; `observatory step` goes on from\n" +
			"there.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := submit.WithTraceparent(cmd.Context())
			if err := f.resolve(cmd.InOrStdin()); err != nil {
				return err
			}
			if err := defaults(ctx, s, f.outputs, cmd.InOrStdin(), &o); err != nil {
				return err
			}
			var err error
			if o.AWS, err = local.AWSConfig(ctx); err != nil {
				return err
			}
			o.Application, o.Args = args[0], args[1:]
			o.Progress = progress.New(cmd.ErrOrStderr()).Writer()
			res, err := submit.Submit(ctx, o.WithAirflow())
			return f.report(cmd, res, err)
		},
	}
	c.Flags().SetInterspersed(false) // flags after the application are the application's
	c.Flags().BoolVar(&o.Wait, "wait", false, "wait until the step has ended")
	f.addTo(c)
	f.addWaitTo(c, "with --wait: ")
	c.Flags().StringVar(&o.Bucket, "bucket", "", "data bucket of the platform")
	c.Flags().StringVar(&o.Class, "class", "", "main class of a JAR")
	c.Flags().StringVar(&o.Name, "name", "", "step name (default: the file name)")
	c.Flags().StringVar(&o.DeployMode, "deploy-mode", "", "Spark deploy mode: client (default) or cluster")
	c.Flags().StringToStringVar(&o.Conf, "conf", nil, "Spark property, key=value; may be repeated")
	return c
}

// airflowProperties lists the properties that name a task of Airflow.
func airflowProperties() string {
	var properties []string
	for _, name := range platform.AirflowNames() {
		properties = append(properties, name.Property)
	}
	return strings.Join(properties, ",\n")
}
