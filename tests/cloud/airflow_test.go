package cloud_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/airflowtest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// storedSpan is a span as Tempo's API has it.
type storedSpan = airflowtest.Span

// traceOf returns the spans that Tempo has of a trace; none yet if it does not know it.
func (c *cloud) traceOf(t *testing.T, id string) (spans []storedSpan) {
	t.Helper()
	var answer struct {
		Batches []struct {
			ScopeSpans []struct{ Spans []storedSpan }
		}
	}
	if err := c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+id, &answer); err != nil {
		return nil
	}
	for _, batch := range answer.Batches {
		for _, scope := range batch.ScopeSpans {
			spans = append(spans, scope.Spans...)
		}
	}
	return spans
}

// dagRunsAreTraces runs a DAG in each version of Airflow by its own scheduler.
func dagRunsAreTraces(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "tests/airflow renders the fields in both versions, and tests/phases checks whose child an application is")
	stack := c.outputs(t)
	job, err := os.Open("testdata/airflow_job.py")
	require.NoError(t, err)
	defer func() { _ = job.Close() }()
	key := string(platform.PrefixLake) + "airflow/job.py"
	_, err = c.objects(t).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.DataBucket), Key: aws.String(key), Body: job})
	require.NoError(t, err)
	for _, version := range []string{"2", "3"} {
		t.Run("Airflow "+version, func(t *testing.T) {
			airflow := airflowtest.Start(t, version, "testdata/airflow_dag.py", append(c.environment(t), "AIRFLOW_CONN_AWS_DEFAULT=aws://",
				"PYTHONPATH="+installedPlugin(t, version), "CLUSTER="+stack.Clusters["main"].ID, "JOB=s3://"+stack.DataBucket+"/"+key))
			require.Equal(t, "success", airflow.Ends(t))
			c.requireOneTrace(t, airflow.Spans, version)
		})
	}
}

// installedPlugin installs the platform's plugin with pip and returns its folder.
func installedPlugin(t *testing.T, version string) (site string) {
	t.Helper()
	plugin, site := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(plugin, os.DirFS("../../integrations/airflow"))) // setuptools writes beside its sources
	out, err := exec.CommandContext(t.Context(), airflowtest.Python(t, version), "-m", "pip", "install", "--quiet", "--no-deps",
		"--target", site, plugin).CombinedOutput()
	require.NoError(t, err, string(out))
	return site
}

// requireOneTrace waits until the DAG's run, the spans of Airflow's tasks, the six steps and their
// applications are one trace, and requires that none of them is an orphan and that no id exists twice.
func (c *cloud) requireOneTrace(t *testing.T, sink *airflowtest.Spans, version string) {
	t.Helper()
	const step, application = "step ", "application "
	err := testenv.Poll(t.Context(), testenv.Cloud, 2*time.Second, func(context.Context) error {
		of, own := sink.RunOf("retried")
		stored := c.traceOf(t, of)
		if steps, applications := named(stored, step), named(stored, application); len(steps) != 6 || len(applications) != 6 {
			return fmt.Errorf("trace %q has %d steps and %d applications", of, len(steps), len(applications))
		}
		return wholeTrace(append(stored, own...), step)
	})
	require.NoError(t, err)
	of, own := sink.RunOf("retried")
	spans, parents := c.traceOf(t, of), map[string]bool{}
	ids := map[string]storedSpan{}
	for _, span := range spans {
		_, twice := ids[string(span.SpanID)]
		require.False(t, twice, "%s has an id of another span", span.Name)
		ids[string(span.SpanID)] = span
	}
	for _, span := range own { // Airflow 2 has one span for all instances of a mapped task, and exports it as often
		other, twice := ids[string(span.SpanID)]
		require.False(t, twice && !slices.ContainsFunc(own, func(s storedSpan) bool { return s.Name == other.Name }),
			"%s and %s have one id", span.Name, other.Name)
		ids[string(span.SpanID)] = span
	}
	for _, span := range named(spans, step) {
		parents[string(span.ParentSpanID)] = true
	}
	tasks := 5 // two, both tries of retried, and both instances of each
	if version == "2" {
		tasks = 4 // whose instances have one span
	}
	require.Len(t, parents, tasks)
	for _, try := range []string{"1", "2"} {
		testenv.Eventually(t, func() bool {
			rows := c.query(t, fmt.Sprintf("last_over_time(%s{%s=%q,%s=%q,%s=%q,%s=%q}[1h])", platform.MetricApplicationInfo, "trace_id", of,
				platform.AirflowDAG, "nightly", platform.AirflowTask, "retried", platform.AirflowTry, try))
			return len(rows) == 1
		}, testenv.Arrival, time.Second, "try %s has its labels", try)
	}
}

// named returns the spans whose names begin with a text.
func named(spans []storedSpan, prefix string) (found []storedSpan) {
	for _, span := range spans {
		if strings.HasPrefix(span.Name, prefix) {
			found = append(found, span)
		}
	}
	return found
}

// wholeTrace returns an error if a span has a parent that is not among them, or a step one that is a step.
func wholeTrace(spans []storedSpan, step string) error {
	ids := map[string]storedSpan{}
	for _, span := range spans {
		ids[string(span.SpanID)] = span
	}
	for _, span := range spans {
		parent, is := ids[string(span.ParentSpanID)]
		if !is && len(span.ParentSpanID) > 0 {
			return fmt.Errorf("%s has no parent in the trace", span.Name)
		}
		if strings.HasPrefix(span.Name, step) && (!is || strings.HasPrefix(parent.Name, step)) {
			return fmt.Errorf("%s belongs to %q and not to a task of Airflow's", span.Name, parent.Name)
		}
	}
	return nil
}
