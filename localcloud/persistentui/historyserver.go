package persistentui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
)

// historyServer is a running history server of one cluster.
type historyServer struct {
	cmd    *exec.Cmd
	url    *url.URL      // of its pages
	exited chan struct{} // closed once the process has ended
}

const (
	// startTime bounds a server's start: a few seconds on an idle machine, many on two busy cores.
	startTime = 3 * time.Minute
	// scanInterval is the time between a server's scans for changed logs.
	scanInterval = 2 * time.Second
	// retainedApplications is the number of applications that a server keeps in its heap.
	retainedApplications = "10"
	// maxTailBytes is the number of bytes of a server's log in an error.
	maxTailBytes = 2000
)

// startHistoryServer starts a server on a cluster's event logs and returns it once it lists
// all their applications.
func (s *Service) startHistoryServer(ctx context.Context, clusterID string) (*historyServer, error) {
	option := s.archiveOption(ctx)
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := s.Expire(); err != nil {
		return nil, err
	}
	logs := s.logDir(clusterID)
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	output, err := os.Create(filepath.Join(s.Dir, clusterID+".history-server.log"))
	if err != nil {
		return nil, err
	}
	server, port, err := s.launch(logs, output, option)
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	err = server.awaitPort(ctx, port)
	if err == nil {
		err = server.awaitListed(ctx, time.Time{})
	}
	if err != nil {
		server.stop()
		return nil, fmt.Errorf("%w%s", err, tail(output.Name()))
	}
	return server, nil
}

// launch starts the process with an option of the JVM's. Its output goes to output, which is
// closed when it exits; port receives the port on which it listens.
func (s *Service) launch(logs string, output *os.File, option string) (server *historyServer, port <-chan string, err error) {
	argv := hadoop.HistoryServerCommand(s.JavaHome, filepath.Join(s.Applications, "spark"), map[string]string{
		"spark.history.fs.logDirectory":      (&url.URL{Scheme: "file", Path: logs}).String(),
		"spark.history.ui.port":              "0", // any free port
		"spark.history.fs.update.interval":   scanInterval.String(),
		"spark.history.retainedApplications": retainedApplications,
	})
	cmd := exec.Command(argv[0], slices.Concat([]string{option}, argv[1:])...)
	cmd.Env = []string{"SPARK_LOCAL_IP=" + platform.Loopback, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	cmd.Dir = s.Dir
	printed, err := cmd.StderrPipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	server = &historyServer{cmd: cmd, exited: make(chan struct{})}
	found := make(chan string, 1)
	go func() {
		defer close(server.exited)
		copyOutput(printed, output, found)
		_ = output.Close()
		_ = cmd.Wait()
	}()
	return server, found, nil
}

// copyOutput copies a server's output, and sends the port from the line that names it.
func copyOutput(from io.Reader, to io.Writer, port chan<- string) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(to, line)
		if parts := hadoop.HistoryServerBound.FindStringSubmatch(line); parts != nil {
			select {
			case port <- parts[1]:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// awaitPort waits until the server listens.
func (h *historyServer) awaitPort(ctx context.Context, port <-chan string) error {
	select {
	case p := <-port:
		h.url = &url.URL{Scheme: "http", Host: platform.Loopback + ":" + p}
		return nil
	case <-h.exited:
		return fmt.Errorf("the process exited: %s", h.cmd.ProcessState)
	case <-ctx.Done():
		return fmt.Errorf("it is not listening: %w", ctx.Err())
	}
}

// updatedAt matches the start time (ms since 1970) of the last complete scan for logs on the
// server's page (FsHistoryProvider.checkForLogs, HistoryPage).
var updatedAt = regexp.MustCompile(`id="last-updated">([0-9]+)<`)

// quietPages is the number of consecutive pages that must not report logs being
// processed. FsHistoryProvider counts a log once its thread begins to read it, not when
// the scan finds it: between two logs the count is 0 for a moment.
const quietPages = 3

// awaitListed waits until the server lists every application whose log existed at a time:
// its last scan began later, and its pages no longer say that logs are being processed.
func (h *historyServer) awaitListed(ctx context.Context, at time.Time) error {
	quiet := 0
	return poll.Until(ctx, poll.Options{Interval: 100 * time.Millisecond, Timeout: startTime}, func(ctx context.Context) error {
		select {
		case <-h.exited:
			return poll.Permanent(fmt.Errorf("the process exited: %s", h.cmd.ProcessState))
		default:
		}
		page, err := get(ctx, h.url.String()+"/")
		if err != nil {
			quiet = 0
			return err
		}
		if quiet++; !listedAll(page, at) {
			quiet = 0
		}
		if quiet < quietPages {
			return errors.New("it has not listed all applications yet")
		}
		return nil
	})
}

// listedAll reports whether a page says that a scan after a time has no log left to read.
func listedAll(page string, at time.Time) bool {
	found := updatedAt.FindStringSubmatch(page)
	if found == nil || strings.Contains(page, "currently being processed") {
		return false
	}
	updated, err := strconv.ParseInt(found[1], 10, 64)
	return err == nil && updated >= at.UnixMilli()
}

// get returns the text of a page.
func get(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// stop kills the server. It does not own its logs, and keeps nothing else.
func (h *historyServer) stop() {
	_ = h.cmd.Process.Kill()
	<-h.exited
}

// alive reports whether the process is running.
func (h *historyServer) alive() bool {
	select {
	case <-h.exited:
		return false
	default:
		return true
	}
}

// tail returns the end of a log as a suffix for an error message.
func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return ""
	}
	return "; the end of " + file + ":\n" + strings.TrimSpace(string(text[max(0, len(text)-maxTailBytes):]))
}
