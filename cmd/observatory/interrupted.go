package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/submit"
)

// sayInterrupted tells at an interrupt why the command does not end at once. It returns the
// function that ends this.
func sayInterrupted(ctx context.Context, log *progress.Log) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		log.Printf("interrupted: the engine first ends what it has begun, which may take minutes; a second Ctrl-C does not wait for it")
	})
}

// interrupted adds to the error of an interrupted up or down what still runs, and the
// commands that go on from there. job is the step that up has submitted, if any.
func (s *settings) interrupted(err error, state string, job *submit.Result) error {
	var text strings.Builder
	running, findErr := localcloud.Find(state)
	switch {
	case errors.Is(findErr, localcloud.ErrDown):
		fmt.Fprintf(&text, "\n  nothing runs; the state folder is %s", state)
	case findErr != nil:
		fmt.Fprintf(&text, "\n  what still runs is not known: %v", findErr)
	default:
		fmt.Fprintf(&text, "\n  still runs: the local cloud (process %d, state folder %s) with what the stack has so far", running.PID, state)
	}
	if job != nil && errors.Is(err, submit.ErrDetached) {
		fmt.Fprintf(&text, "\n  follow its job: %s\n  cancel its job: %s", s.stepCommand("follow", *job), s.stepCommand("cancel", *job))
	}
	fmt.Fprintf(&text, "\n  resume: %s\n  remove: %s", s.again(), s.short("down"))
	told, _, _ := strings.Cut(err.Error(), "\n") // below is the engine's transcript
	return fmt.Errorf("interrupted: %s%s", told, text.String())
}

// again is the command that this process runs, for sh.
func (s *settings) again() string {
	if name := strings.Join(os.Args[1:], " "); name == "up" || name == "down" {
		return s.short(name)
	}
	words := make([]string, 0, len(os.Args))
	for _, word := range os.Args {
		words = append(words, wordOf(word))
	}
	return strings.Join(words, " ")
}

// short is a command of this program without arguments: for the default local cloud the
// target of make that runs it, which also rebuilds this program.
func (s *settings) short(name string) string {
	if s.state == "" && s.stack == defaultStack {
		return "make " + name
	}
	return s.command(name)
}
