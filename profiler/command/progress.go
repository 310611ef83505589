package command

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/emr-observatory/emr-observatory/internal/plaintext"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// display shows a run's progress on the screen or in a log.
type display interface {
	run.Progress
	// wait leaves the last state on the screen.
	wait()
}

// newDisplay returns bars on a terminal, and lines elsewhere.
func newDisplay(out io.Writer) display {
	if screen := plaintext.Unwrap(out); isTerminal(screen) {
		return newBars(screen)
	}
	return lines{progress.New(out)}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// lines shows progress in a log: only the run's messages.
type lines struct{ *progress.Log }

func (lines) Clusters(int)     {}
func (lines) Applications(int) {}
func (lines) ClusterDone()     {}
func (lines) ApplicationDone() {}
func (lines) wait()            {}

// bars shows two progress bars below the run's messages.
type bars struct {
	all                    *mpb.Progress
	log                    *progress.Log
	clusters, applications *mpb.Bar
	found                  atomic.Int64
}

func newBars(out io.Writer) *bars {
	all := mpb.New(mpb.WithOutput(out), mpb.WithAutoRefresh())
	bar := func(name string) *mpb.Bar {
		return all.AddBar(0,
			mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), decor.CountersNoUnit("%d of %d", decor.WCSyncSpace)),
			mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
	}
	return &bars{all: all, log: progress.New(plaintext.New(all)), clusters: bar("clusters"), applications: bar("applications")}
}

func (b *bars) Printf(format string, args ...any) { b.log.Printf("%s", fmt.Sprintf(format, args...)) }
func (b *bars) Clusters(total int)                { b.clusters.SetTotal(int64(total), false) }
func (b *bars) Applications(more int)             { b.applications.SetTotal(b.found.Add(int64(more)), false) }
func (b *bars) ClusterDone()                      { b.clusters.Increment() }
func (b *bars) ApplicationDone()                  { b.applications.Increment() }

func (b *bars) wait() {
	b.clusters.SetTotal(-1, true) // ends the bars where they are
	b.applications.SetTotal(-1, true)
	b.all.Wait()
}
