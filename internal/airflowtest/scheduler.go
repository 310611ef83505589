// Package airflowtest runs a DAG in a real Airflow for tests: its own scheduler, with an empty
// SQLite database, and what Airflow exports of its tasks. It installs nothing: `make test` makes
// an environment for each major version.
package airflowtest

import (
	"bytes"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// Scheduler is a scheduler of Airflow with one DAG.
type Scheduler struct {
	Spans *Spans // Airflow's own

	python, home string
	log          *bytes.Buffer
}

// Python returns the interpreter of the environment with Airflow 2 or 3. It skips the test, or
// fails it, where there is none (testenv.Require).
func Python(t *testing.T, version string) string {
	t.Helper()
	variable := "OBSERVATORY_AIRFLOW" + version
	python := os.Getenv(variable)
	testenv.Require(t, python != "", variable+" is not set: `make test` sets it to a Python with Airflow")
	return python
}

// Start starts a scheduler until the test ends. dag is a file, and env the environment of its
// tasks, in which an entry PYTHONPATH has the plugin.
func Start(t *testing.T, version, dag string, env []string) *Scheduler {
	t.Helper()
	s := &Scheduler{Spans: &Spans{}, python: Python(t, version), home: t.TempDir(), log: &bytes.Buffer{}}
	dags := filepath.Join(s.home, "dags")
	require.NoError(t, os.Mkdir(dags, 0o755))
	text, err := os.ReadFile(dag)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dags, filepath.Base(dag)), text, 0o644))
	exported := httptest.NewServer(s.Spans)
	t.Cleanup(exported.Close)
	address, err := url.Parse(exported.URL)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(testenv.Address(t))
	require.NoError(t, err)
	path := os.Getenv("PATH")
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	env = append(env, "AIRFLOW_HOME="+s.home, "PATH="+filepath.Dir(s.python)+":"+path, "AIRFLOW__CORE__DAGS_FOLDER="+dags,
		"AIRFLOW__CORE__LOAD_EXAMPLES=False", "AIRFLOW__TRACES__OTEL_ON=True",
		"AIRFLOW__TRACES__OTEL_HOST="+address.Hostname(), "AIRFLOW__TRACES__OTEL_PORT="+address.Port())
	command := []string{"scheduler"}
	if version == "3" {
		command = []string{"standalone"}
		env = append(env, "AIRFLOW__API__HOST="+host, "AIRFLOW__API__PORT="+port,
			"AIRFLOW__CORE__EXECUTION_API_SERVER_URL=http://"+net.JoinHostPort(host, port)+"/execution/",
			"OTEL_TRACES_EXPORTER=otlp_proto_http", "OTEL_EXPORTER_OTLP_ENDPOINT="+exported.URL)
	} else {
		migrate := exec.CommandContext(t.Context(), s.python, "-m", "airflow", "db", "migrate")
		migrate.Env = env
		out, err := migrate.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	s.start(t, env, command)
	return s
}

// start runs one of Airflow's commands until the test ends.
func (s *Scheduler) start(t *testing.T, env, command []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.python, append([]string{"-m", "airflow"}, command...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, s.log, s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts others
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Wait() // the test's context has ended it
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the end of Airflow's log:\n%s", s.log.Bytes()[max(0, s.log.Len()-4000):])
		}
	})
}

// states prints the state of the DAG's run and of its tasks.
const states = `import sqlite3, sys
db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
print(*(state for (state,) in db.execute("select state from dag_run")))
print(db.execute("select task_id, map_index, try_number, state from task_instance").fetchall())
`

// Ends waits for the end of the DAG's run and returns its state.
func (s *Scheduler) Ends(t *testing.T) (state string) {
	t.Helper()
	var seen string
	testenv.Eventually(t, func() bool {
		out, err := exec.CommandContext(t.Context(), s.python, "-c", states, filepath.Join(s.home, "airflow.db")).CombinedOutput()
		if seen = string(out); err != nil {
			return false // the database is not complete yet
		}
		state, _, _ = strings.Cut(seen, "\n")
		return state == "success" || state == "failed"
	}, 2*testenv.Cloud, 2*time.Second, "the DAG's run ends")
	t.Log(seen)
	return state
}

// Logs returns what the tasks of the DAG have logged.
func (s *Scheduler) Logs(t *testing.T) (all string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(s.home, "logs"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(path, "task_id=") {
			return err
		}
		text, err := os.ReadFile(path)
		all += string(text)
		return err
	}))
	return all
}
