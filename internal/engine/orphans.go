package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/progress"
)

// orphanTimeout is how long the engine of a killed command may take to finish and
// record the operation that it had begun; creating a cluster takes half a minute.
// If it were killed too, resources would exist that the state does not list.
const orphanTimeout = 5 * time.Minute

// awaitOrphans waits until the engines of killed commands have ended. The caller
// holds the state folder's lock, so no engine of the back end is another command's.
func awaitOrphans(ctx context.Context, backend string, log *progress.Log) error {
	start, announced := time.Now(), false
	schedule := poll.Options{Interval: 100 * time.Millisecond, Timeout: orphanTimeout}
	err := poll.Until(ctx, schedule, func(context.Context) error {
		running, err := orphans(backend)
		if err != nil {
			return poll.Permanent(err)
		}
		if len(running) == 0 {
			return nil
		}
		if !announced && time.Since(start) > time.Second {
			log.Printf("waiting for the engine of an interrupted command (processes %v)", running)
			announced = true
		}
		return fmt.Errorf("it has not ended: end processes %v and run this again", running)
	})
	if err != nil {
		return fmt.Errorf("wait for the engine of an interrupted command: %w", err)
	}
	return nil
}

// KillOrphans kills the engines that a killed command left running on a state
// folder, which the caller is about to remove.
func KillOrphans(state string) error {
	running, err := orphans(backendURL(state))
	for _, pid := range running {
		if killErr := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(killErr, syscall.ESRCH) {
			err = errors.Join(err, killErr)
		}
	}
	if err != nil {
		return fmt.Errorf("kill engines on %s: %w", state, err)
	}
	return nil
}

// orphans returns the ids of the engines that the Automation API started on a back
// end. Those that `observatory pulumi` started have no --exec-kind and are left out.
func orphans(backend string) ([]int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []int
	for _, p := range all {
		line, err := p.CmdLine()
		if err != nil || !slices.ContainsFunc(line, func(word string) bool { return strings.HasPrefix(word, "--exec-kind") }) {
			continue
		}
		env, err := p.Environ()
		if err == nil && slices.Contains(env, "PULUMI_BACKEND_URL="+backend) {
			found = append(found, p.PID)
		}
	}
	return found, nil
}
