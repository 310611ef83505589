package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

func submitCommand(s *settings) *cobra.Command {
	var o submit.Options
	var asJSON bool
	c := &cobra.Command{
		Use: "submit [flags] JAR|PY [ARG…]", Args: cobra.MinimumNArgs(1),
		Short: "Run a Spark application as an EMR step, on the local cloud or on AWS",
		Long: "Uploads the application to the data bucket and adds a step (command-runner.jar, spark-submit). Where a local cloud runs,\n" +
			"its cluster, bucket and collector are taken; otherwise the AWS SDK's own configuration counts, with --cluster and --bucket.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			running, isLocal, err := local(s)
			if err != nil {
				return err
			}
			if isLocal {
				o.OTLPEndpoint = orElse(o.OTLPEndpoint, running.Addresses[string(platform.WorkloadCollector)])
				o.PollInterval, o.LongestPoll = time.Second, time.Second // nobody else asks this API
				if o.Cluster == "" || o.Bucket == "" {
					e, err := existing(ctx, s, running)
					if err != nil {
						return err
					}
					have, err := e.outputsOf(ctx)
					if err != nil {
						return err
					}
					o.Cluster, o.Bucket = orElse(o.Cluster, have.EMRClusterID), orElse(o.Bucket, have.DataBucket)
				}
			}
			if o.AWS, err = awsConfig(ctx); err != nil {
				return err
			}
			o.Application, o.Args = args[0], args[1:]
			o.Progress = newProgress(cmd.ErrOrStderr()).lines()
			res, err := submit.Submit(ctx, o)
			if asJSON && res.StepID != "" {
				if jsonErr := json.NewEncoder(cmd.OutOrStdout()).Encode(res); jsonErr != nil {
					return errors.Join(err, jsonErr)
				}
			} else if res.StepID != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s trace %s\n", res.StepID, res.State, res.TraceID)
			}
			return err
		},
	}
	c.Flags().SetInterspersed(false) // the application's own flags are its own
	c.Flags().BoolVar(&o.Wait, "wait", false, "follow the step to its end")
	c.Flags().StringVar(&o.Cluster, "cluster", "", "EMR cluster id (j-…)")
	c.Flags().StringVar(&o.Bucket, "bucket", "", "data bucket of the platform")
	c.Flags().StringVar(&o.Class, "class", "", "main class of a JAR")
	c.Flags().StringVar(&o.Name, "name", "", "name of the step (default the file's)")
	c.Flags().StringVar(&o.DeployMode, "deploy-mode", "", "client (default) or cluster")
	c.Flags().StringToStringVar(&o.Conf, "conf", nil, "Spark property, key=value; may be repeated")
	c.Flags().StringVar(&o.OTLPEndpoint, "otlp", "", "host:port of a collector that takes the step's span")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func orElse(v, other string) string {
	if v != "" {
		return v
	}
	return other
}
