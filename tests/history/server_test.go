package history_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
)

// bound matches the line of the server's log that names its address.
var bound = regexp.MustCompile(`Bound HistoryServer to .* started at http://[^:]+:(\d+)`)

// server is a history server over a folder of logs.
type server struct{ url, events string }

// givenLogs is a folder of event logs that TestEventLogAndRESTRowsAgree reads in place of
// those of all(): tests/cloud names it.
var givenLogs = os.Getenv("OBSERVATORY_EVENT_LOGS")

// theServer is what tests share: a server over all logs. It ends with the tests' process.
var theServer = sync.OnceValues(func() (*server, error) {
	if givenLogs != "" {
		r, err := newRun()
		if err != nil {
			return nil, err
		}
		return r.serve(givenLogs)
	}
	r, err := theRun()
	if err != nil {
		return nil, err
	}
	events := filepath.Join(r.dir, "every")
	if err := os.RemoveAll(events); err != nil {
		return nil, err
	}
	if err := r.everyLog(events); err != nil {
		return nil, err
	}
	return r.serve(events)
})

// serve starts Spark's history server over a folder of logs.
func (r *run) serve(events string, conf ...string) (*server, error) {
	daemon := hadoop.HistoryServer()
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx" + daemon.Heap, "-Dspark.history.ui.port=0",
		"-Dspark.history.fs.logDirectory=file://" + events, "-Dspark.history.fs.update.interval=1s"}
	for _, c := range conf {
		args = append(args, "-D"+c)
	}
	args = append(args, "-cp", filepath.Join(r.dir, "conf")+":"+filepath.Join(r.tree, "spark/jars/*"), daemon.Class)
	log, err := os.CreateTemp(r.dir, "server-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(r.java, "bin", "java"), args...)
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{events: events}
	return s, testenv.Poll(context.Background(), serverTimeout, 100*time.Millisecond, func(context.Context) error {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return err
		}
		found := bound.FindSubmatch(text)
		if found == nil {
			return fmt.Errorf("the history server has not started:\n%s", text)
		}
		s.url = "http://127.0.0.1:" + string(found[1])
		return nil
	})
}
