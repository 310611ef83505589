// Command record reads the events of a test run, prints the tests that failed and then
// passed, one `flaky: PACKAGE TestName` a line, and with -into records the run's times.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/tests/times"
)

func main() {
	events := flag.String("events", "", "file of `go test -json` events")
	into := flag.String("into", "", "file of recorded times; none records nothing")
	commit := flag.String("commit", "", "commit that the run tested")
	part := flag.String("part", "", "PACKAGES of a part of make test-long; none: make test")
	module := flag.String("module", "", "path of the module, which folders do not repeat")
	flag.Parse()
	if err := run(*events, *into, *module, times.Run{Commit: *commit, Part: *part}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(events, into, module string, done times.Run) error {
	file, err := os.Open(events)
	if err != nil {
		return err
	}
	defer file.Close()
	result, err := times.Read(file)
	if err != nil {
		return err
	}
	if into != "" {
		done.Date, done.Seconds, done.Packages = time.Now().UTC().Format(time.DateOnly), result.Seconds, map[string]float64{}
		for name, took := range result.Packages {
			done.Packages[strings.TrimPrefix(name, module+"/")] = took
		}
		if err := record(into, done); err != nil {
			return err
		}
	}
	for _, name := range result.Flaky {
		fmt.Println("flaky: " + name)
	}
	return nil
}

// record adds a run to the file of recorded times.
func record(path string, done times.Run) error {
	var recorded times.Times
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	recorded.Record(done)
	text, err = json.MarshalIndent(recorded, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
