package stepcause

import "fmt"

// Search joins what the logs of a step tell. Its zero value is ready to use.
type Search struct {
	best   finding
	ending ending
	own    string // the log whose last lines are the job's, or else the one with the exit code
	driver bool   // a driver's own log was read
}

// Kind is what a log is of.
type Kind int

// Kinds of logs.
const (
	Output     Kind = iota // what the step's program printed
	Controller             // EMR's, about that program
	Driver                 // of a driver in cluster mode, which ran in a container
)

// Add adds what was found in a log.
func (s *Search) Add(log string, kind Kind, f *Finder) {
	found := f.cause()
	if found.weight > s.best.weight {
		s.best = found
		s.best.Log = log
	}
	ended := f.ended
	if kind == Controller {
		ended.lines = nil
	}
	if len(ended.lines) > 0 || len(s.ending.lines) == 0 && ended.text() != "" {
		s.own = log
	}
	s.ending.merge(ended)
	s.driver = s.driver || kind == Driver
}

// WantsController reports whether EMR's own log may say more than what was added: how the
// program ended, since no exception says why.
func (s *Search) WantsController() bool { return s.best.weight < printed }

// WantsDriver reports whether the driver ran in cluster mode, and its own log, which was not
// added yet, may say why it failed.
func (s *Search) WantsDriver() bool {
	return s.best.weight < printed && s.ending.cluster && !s.driver
}

// Cause returns the cause, nil if no log names one: the exception that most surely ended the
// program, or else how it ended, with what the job printed last. A warning is the cause only
// if nothing says how the program ended.
func (s *Search) Cause() *Cause {
	text, cause := s.ending.text(), s.best.Cause
	switch {
	case s.WantsDriver() && s.best.weight > noCause:
		if code := s.ending.code(); code != 0 {
			cause.Exception = fmt.Sprintf("exit code %d", code)
		}
		cause.Exception = clip(cause.Exception+"; the driver's own log, which says why, could not be read", maxException)
	case s.best.weight >= printed, s.best.weight > noCause && text == "":
	case text == "":
		return nil
	default:
		cause = Cause{Exception: text, Log: s.own, LastLines: s.ending.lines}
	}
	return &cause
}
