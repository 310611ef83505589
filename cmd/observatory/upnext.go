package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
)

// exampleJob is the job of `up` in the checkout.
const exampleJob = "examples/jobs/orders.py"

// printNext prints commands that run as they stand: with the names of this cloud, from the
// working folder.
func (s *settings) printNext(out io.Writer, r local.Result) {
	lake := platform.PrefixLake.URI(r.Bucket)
	fmt.Fprintln(out, "\nTry next:")
	lines := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(lines, "  %s\t# what runs, and what is not available locally\n", s.command("status"))
	if len(r.Clusters) > 0 {
		cluster := slices.Min(slices.Collect(maps.Keys(r.Clusters))) // as of up's own job
		fmt.Fprintf(lines, "  %s\t# a job, as your own would be\n",
			s.command("submit", "--wait", "--cluster", cluster, exampleFile(), lake+"try"))
	}
	_ = lines.Flush() // a terminal that is gone needs no help
	fmt.Fprintf(out, "\nJobs may write below %s. S3 and the EMR API are for AWS clients, with the profile in %s:\n", lake, r.Profile)
	for _, c := range []struct{ service, command string }{
		{localcloud.ServiceS3, "s3 ls " + lake}, {localcloud.ServiceEMR, "emr list-clusters --active"},
	} {
		fmt.Fprintf(out, "  AWS_CONFIG_FILE=%s aws --profile %s --endpoint-url %s %s\n", wordOf(r.Profile), localcloud.Profile,
			r.URLs[c.service], c.command)
	}
}

// exampleFile is where the working folder has the example job.
func exampleFile() string {
	project, err := projectDir()
	if err != nil {
		return exampleJob
	}
	full := filepath.Join(project, exampleJob)
	here, err := os.Getwd()
	if err != nil {
		return full
	}
	if below, err := filepath.Rel(here, full); err == nil && !strings.HasPrefix(below, "..") {
		return below
	}
	return full
}
