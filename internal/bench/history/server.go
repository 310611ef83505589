package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// tuned are JVM options that override those of the local cloud's persistent UIs, which save
// memory: all JIT tiers, parallel GC, a large heap.
var tuned = []string{"-XX:TieredStopAtLevel=4", "-XX:-UseSerialGC", "-XX:+UseParallelGC", "-Xss4m", "-Xmn2g", "-Xmx6g"}

// FirstAnswer returns how many seconds a Spark history server takes from its start to its
// first answer about an application's jobs: it lists the application, and then replays its
// log. The server has one processor, as the readers have, and the JVM options of the local
// cloud's persistent UIs, followed by more options.
func FirstAnswer(ctx context.Context, log string, options ...string) (seconds float64, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(log), "history-server-")
	if err != nil {
		return 0, fmt.Errorf("time a history server: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Link(log, filepath.Join(dir, filepath.Base(log))); err != nil {
		return 0, fmt.Errorf("time a history server: %w", err)
	}
	began := time.Now()
	server, err := startServer(ctx, dir, options)
	if err != nil {
		return 0, fmt.Errorf("time a history server: %w", err)
	}
	defer server.stop()
	address, err := server.address(ctx)
	if err != nil {
		return 0, fmt.Errorf("time a history server: %w", err)
	}
	application, err := listedApplication(ctx, address)
	if err != nil {
		return 0, fmt.Errorf("time a history server: %w", err)
	}
	if err := download(ctx, address+"/api/v1/applications/"+application+"/"+string(history.Jobs)); err != nil {
		return 0, fmt.Errorf("time a history server: %w", err)
	}
	return time.Since(began).Seconds(), nil
}

// server is a history server. Its output goes to a file.
type server struct {
	cmd    *exec.Cmd
	output string
	exited chan struct{}
}

// startServer starts a history server for a folder of logs.
func startServer(ctx context.Context, logs string, options []string) (*server, error) {
	tree, err := applications.Fetch(ctx, nil)
	if err != nil {
		return nil, err // the error says what is fetched
	}
	java, err := doctor.JDK()
	if err != nil {
		return nil, err // the error says what is missing
	}
	argv := hadoop.HistoryServerCommand(java, filepath.Join(tree, "spark"), map[string]string{
		"spark.history.fs.logDirectory": (&url.URL{Scheme: "file", Path: logs}).String(),
		"spark.history.ui.port":         "0", // any free port
	})
	argv = slices.Insert(argv, slices.Index(argv, "-cp"), options...)
	s := &server{cmd: exec.Command(argv[0], argv[1:]...), output: logs + ".log", exited: make(chan struct{})}
	output, err := os.Create(s.output)
	if err != nil {
		return nil, fmt.Errorf("start the process: %w", err)
	}
	defer output.Close() // the child has its own descriptor
	s.cmd.Env = []string{"SPARK_LOCAL_IP=" + platform.Loopback, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	s.cmd.Stdout, s.cmd.Stderr = output, output
	if err := onOneProcessor(s.cmd.Start); err != nil {
		return nil, fmt.Errorf("start the process: %w", err)
	}
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait() // address reports an early exit
	}()
	return s, nil
}

// onOneProcessor calls start, and confines the process that it starts to one processor.
func onOneProcessor(start func() error) error {
	runtime.LockOSThread() // a process inherits the processors of the thread that starts it
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("read the processors of this thread: %w", err)
	}
	first := 0
	for !all.IsSet(first) {
		first++
	}
	one.Set(first)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("confine this thread to one processor: %w", err)
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &all))
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill() // it may have exited
	<-s.exited
	_ = os.Remove(s.output)
}

// address waits until the server listens.
func (s *server) address(ctx context.Context) (address string, err error) {
	err = poll.Until(ctx, poll.Options{Interval: 100 * time.Millisecond, Timeout: time.Minute}, func(context.Context) error {
		text, err := os.ReadFile(s.output)
		if err != nil {
			return poll.Permanent(fmt.Errorf("read its output: %w", err))
		}
		if parts := hadoop.HistoryServerBound.FindSubmatch(text); parts != nil {
			address = "http://" + platform.Loopback + ":" + string(parts[1])
			return nil
		}
		select {
		case <-s.exited:
			return poll.Permanent(fmt.Errorf("it exited: %s: %s", s.cmd.ProcessState, strings.TrimSpace(string(text))))
		default:
			return errors.New("not listening yet")
		}
	})
	if err != nil {
		return "", fmt.Errorf("wait until it listens: %w", err)
	}
	return address, nil
}

// listedApplication waits until the server lists its application.
func listedApplication(ctx context.Context, address string) (id string, err error) {
	client, err := history.Open(address, history.Options{})
	if err != nil {
		return "", err // the error names the address
	}
	err = poll.Until(ctx, poll.Options{Interval: 200 * time.Millisecond, Timeout: 15 * time.Minute}, func(ctx context.Context) error {
		listed, err := client.Applications(ctx)
		if err != nil {
			return err // the error names the request
		}
		if len(listed) == 0 {
			return errors.New("no application listed yet")
		}
		id = listed[0].ID
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("wait until it lists the application: %w", err)
	}
	return id, nil
}

// download reads a response to its end and discards it.
func download(ctx context.Context, address string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err // the error names the address
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err // as above
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	size, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		return fmt.Errorf("read %s: %w", address, err)
	}
	if response.StatusCode != http.StatusOK || size == 0 {
		return fmt.Errorf("%s: %s, %d bytes", address, response.Status, size)
	}
	return nil
}
