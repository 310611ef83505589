// Package airflow_test tests the plugin for Airflow (integrations/airflow): its wheel, its types, and
// what it makes of the fields of stock operators, in both major versions of Airflow.
package airflow_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

const plugin = "../../integrations/airflow"

// versions are Pythons with Airflow and the providers of Amazon and Spark, by the major version.
func versions(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, version := range []string{"2", "3"} {
		found[version] = os.Getenv("OBSERVATORY_AIRFLOW" + version)
		testenv.Require(t, found[version] != "", "OBSERVATORY_AIRFLOW"+version+" is not set: `make test` sets it to a Python with Airflow")
	}
	return found
}

// run runs a command in the plugin's folder and returns its standard output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = plugin, append(os.Environ(), env...)
	var failed strings.Builder
	c.Stderr = &failed
	out, err := c.Output()
	require.NoError(t, err, "%s %v: %s%s", name, args, out, failed.String())
	return string(out)
}

// site installs the plugin's wheel into a folder for PYTHONPATH.
func site(t *testing.T, python string) string {
	t.Helper()
	source, built, site := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(source, os.DirFS(plugin))) // setuptools writes beside its sources
	run(t, nil, python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", built, source)
	wheels, err := filepath.Glob(filepath.Join(built, "emr_observatory_airflow-*-py3-none-any.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, 1)
	run(t, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", site, wheels[0])
	require.FileExists(t, filepath.Join(site, "emr_observatory_airflow", "py.typed"))
	return site
}

func TestPluginIsTyped(t *testing.T) {
	run(t, nil, versions(t)["3"], "-m", "mypy", "--cache-dir", t.TempDir(), "emr_observatory_airflow")
}

// fields is what testdata/fields.py prints.
type fields struct {
	Names map[string]string         `json:"names"` // of properties, by the plugin's constants
	Shown map[string]string         `json:"shown"` // a field in Airflow's database
	Tries []map[string]taskInstance `json:"tries"` // by task
}

type taskInstance struct {
	Span      string                 `json:"span"` // that Airflow gives it, as a traceparent
	Conf      map[string]string      `json:"conf"`
	Connect   map[string]string      `json:"config_kwargs"`
	Variables map[string]string      `json:"env_vars"`
	Arguments []string               `json:"application_args"`
	Steps     []step                 `json:"steps"`
	Cluster   struct{ Steps []step } `json:"job_flow_overrides"`
}

type step struct {
	Name          string
	HadoopJarStep struct{ Args []string }
}

// TestFieldsOfStockOperators holds for both versions, whatever Airflow traces.
func TestFieldsOfStockOperators(t *testing.T) {
	for version, python := range versions(t) {
		installed := site(t, python)
		for _, traced := range []string{"all", "unsampled", "nothing"} {
			if version == "2" && traced == "unsampled" {
				continue // it has no sampling of its own
			}
			t.Run(version+" "+traced, func(t *testing.T) {
				t.Parallel()
				script, err := filepath.Abs("testdata/fields.py")
				require.NoError(t, err)
				on := map[bool]string{true: "True", false: "False"}[traced != "nothing"]
				var f fields
				require.NoError(t, json.Unmarshal([]byte(run(t, []string{
					"AIRFLOW_HOME=" + t.TempDir(), "AIRFLOW__TRACES__OTEL_ON=" + on, "PYTHONPATH=" + installed,
				}, python, script, traced)), &f))
				require.Equal(t, map[string]string{
					"TRACEPARENT": platform.SparkTraceparent, "STEP_PARENT": platform.SparkStepParent, "DAG_ID": platform.SparkAirflowDAG,
					"TASK_ID": platform.SparkAirflowTask, "RUN_ID": platform.SparkAirflowRun, "TRY_NUMBER": platform.SparkAirflowTry,
				}, f.Names)
				require.Equal(t, map[string]string{"spark.x": "{{ ti.task_id }}", platform.SparkAirflowTask: "mine"}, f.Shown)
				require.Len(t, f.Tries, 2)
				for i, tasks := range f.Tries {
					requireJobs(t, tasks, strconv.Itoa(i+1), traced == "all")
					requireSteps(t, tasks, strconv.Itoa(i+1), traced == "all")
				}
				first, second := f.Tries[0]["add"].Steps[0].HadoopJarStep.Args, f.Tries[1]["add"].Steps[0].HadoopJarStep.Args
				if traced == "all" {
					require.NotEqual(t, platform.TraceparentOf(first), platform.TraceparentOf(second), "a retry is another step")
				}
			})
		}
	}
}

const runID = "scheduled__2026-11-23T02:00:00+00:00"

// named returns the properties that name a task instance.
func named(task, try string) map[string]string {
	return map[string]string{
		platform.SparkAirflowDAG: "nightly", platform.SparkAirflowTask: task, platform.SparkAirflowRun: runID, platform.SparkAirflowTry: try,
	}
}

// requireJobs requires what jobs get that the task itself starts: its span is their parent.
func requireJobs(t *testing.T, tasks map[string]taskInstance, try string, traced bool) {
	t.Helper()
	submit, templates := tasks["submit"], tasks["templates"]
	want := named("mine", try) // its own is kept
	want["spark.x"] = "submit"
	inTemplates := named("templates", try)
	inTemplates["spark.x"] = "y"
	variable := ""
	if traced {
		want[platform.SparkTraceparent], inTemplates[platform.SparkTraceparent] = submit.Span, templates.Span
		variable = templates.Span
	}
	require.Equal(t, want, submit.Conf)
	for task, conf := range map[string]map[string]string{"empty": tasks["empty"].Conf, "connect": tasks["connect"].Connect} {
		alone := named(task, try) // without a property of its own
		if traced {
			alone[platform.SparkTraceparent] = tasks[task].Span
		}
		require.Equal(t, alone, conf)
	}
	require.Equal(t, inTemplates, templates.Conf)
	require.Equal(t, map[string]string{"TRACEPARENT": variable}, templates.Variables)
}

// requireSteps requires what steps get: each has a span of its own below the task's.
func requireSteps(t *testing.T, tasks map[string]taskInstance, try string, traced bool) {
	t.Helper()
	one, steps := tasks["create"].Cluster.Steps, tasks["add"].Steps
	require.Len(t, one, 1)
	require.Len(t, steps, 4)
	require.Equal(t, "create", one[0].Name)
	joined := tasks["joined"].Steps
	require.Len(t, joined, 2)
	require.Equal(t, []string{"true"}, joined[0].HadoopJarStep.Args)
	spans := []string{
		requireStep(t, joined[1].HadoopJarStep.Args, tasks["joined"].Span, named("joined", try), traced),
		requireStep(t, one[0].HadoopJarStep.Args, tasks["create"].Span, named("create", try), traced),
		requireStep(t, steps[0].HadoopJarStep.Args, tasks["add"].Span, named("add", try), traced),
		requireStep(t, append([]string{"spark-submit"}, tasks["templates"].Arguments...), tasks["templates"].Span, named("templates", try),
			traced),
	}
	if traced {
		slices.Sort(spans)
		require.Len(t, slices.Compact(spans), len(spans), "each step has a span of its own")
	}
	require.Equal(t, []string{"--conf", "spark.x=" + runID, "s3://b/two.py"}, steps[0].HadoopJarStep.Args[len(steps[0].HadoopJarStep.Args)-3:])

	own := steps[1].HadoopJarStep.Args
	require.Equal(t, "/usr/bin/spark-submit", own[0])
	require.Equal(t, "00-"+strings.Repeat("1", 32)+"-"+strings.Repeat("2", 16)+"-01", platform.TraceparentOf(own))
	require.Empty(t, platform.StepParentOf(own), "it belongs to another trace")
	require.NotContains(t, own, platform.SparkAirflowDAG+"=nightly")
	require.Contains(t, own, platform.SparkAirflowTask+"=add")

	require.Equal(t, []string{"s3-dist-cp", "--src", "s3://b/in"}, steps[2].HadoopJarStep.Args)
	require.Empty(t, steps[3].HadoopJarStep.Args)
}

var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-01$`)

// requireStep requires a step's properties right behind spark-submit, and returns its span's id.
func requireStep(t *testing.T, args []string, parent string, names map[string]string, traced bool) string {
	t.Helper()
	require.Equal(t, "spark-submit", args[0])
	for key, value := range names {
		i := slices.Index(args, key+"="+value)
		require.Positive(t, i, "%s in %v", key, args)
		require.Equal(t, "--conf", args[i-1])
	}
	if !traced {
		require.Empty(t, platform.TraceparentOf(args)+platform.StepParentOf(args))
		return ""
	}
	task, found := traceparent.FindStringSubmatch(parent), traceparent.FindStringSubmatch(platform.TraceparentOf(args))
	require.NotNil(t, task, parent)
	require.NotNil(t, found, args)
	require.Equal(t, task[1], found[1], "the task's trace")
	require.Equal(t, task[2], platform.StepParentOf(args))
	require.NotEqual(t, task[2], found[2])
	return found[2]
}
