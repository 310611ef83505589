package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// ending is there once a down has begun to destroy. One that was killed leaves
// a state that no up can go on from: objects that vanish with the control node
// are already forgotten while the node, and they, still are.
func ending(state string) string { return filepath.Join(state, "ending") }

// An engine whose program was killed still ends what it had begun, and writes
// that down: half a minute where that is a cluster. Killed itself, it would
// leave resources that no state knows of.
const patience = 2 * time.Minute

// awaitEngines waits for engines that a killed command left at work on a back
// end. The caller holds the state folder, so none of them is another command's.
func awaitEngines(ctx context.Context, backend string, p *progress) error {
	begun, told := time.Now(), false
	for {
		left, err := engines(backend)
		if err != nil || len(left) == 0 {
			return err
		}
		if !told && time.Since(begun) > time.Second {
			p.say("waiting for what an interrupted command had begun (processes %v)", left)
			told = true
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("an interrupted command's engine does not end within %s: end processes %v and run this again", patience, left)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// endEngines kills them: what they had begun goes with the state folder.
func endEngines(backend string) error {
	left, err := engines(backend)
	for _, pid := range left {
		if fault := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(fault, syscall.ESRCH) {
			err = errors.Join(err, fault)
		}
	}
	return err
}

// engines are the processes that the Automation API started on a back end; what
// a person runs by `observatory pulumi` is none of them.
func engines(backend string) ([]int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
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
