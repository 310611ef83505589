package emr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/emr-observatory/emr-observatory/platform"
)

// submissionLine is what a client of YARN logs when it submits an application: Spark's
// Client before, Hadoop's YarnClientImpl after. Other lines name applications, too, but
// not only the step's.
var submissionLine = regexp.MustCompile(`Submitt(?:ing|ed) application (` + platform.YARNApplicationID + `)\b`)

// stepLogs is what has been read of a step's logs.
type stepLogs struct {
	mu             sync.Mutex
	read           map[string]int64 // bytes by log
	applicationIDs []string
}

// findStepApplications reads what a step has logged since the last call, and records
// the applications that it has submitted. EMR does not say how it knows them.
func (s *Service) findStepApplications(clusterID string, master *node, stepID string) error {
	known, _ := master.stepLogs.LoadOrStore(stepID, &stepLogs{read: map[string]int64{}})
	logs, _ := known.(*stepLogs)
	logs.mu.Lock()
	defer logs.mu.Unlock()
	before := len(logs.applicationIDs)
	// A Python driver in client mode logs to stdout: PythonRunner merges the two.
	for _, log := range []string{"stderr", "stdout"} {
		if err := logs.scan(filepath.Join(master.machine.Root, platform.EMRStepLogDir, stepID, log)); err != nil {
			return err
		}
	}
	if len(logs.applicationIDs) == before {
		return nil
	}
	address := fmt.Sprintf("%s:%d", master.fqdn(), platform.ResourceManagerRPC)
	return s.Store.SetStepApplications(clusterID, stepID, address, slices.Clone(logs.applicationIDs))
}

// scan reads the whole lines of a log that are new.
func (l *stepLogs) scan(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read step log: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(l.read[file], io.SeekStart); err != nil {
		return fmt.Errorf("read step log: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxScanBytes))
	if err != nil {
		return fmt.Errorf("read step log: %w", err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole == 0 && len(text) == maxScanBytes { // one long line, not a log's
		whole = len(text)
	}
	l.read[file] += int64(whole)
	for _, match := range submissionLine.FindAllSubmatch(text[:whole], -1) {
		if id := string(match[1]); !slices.Contains(l.applicationIDs, id) {
			l.applicationIDs = append(l.applicationIDs, id)
		}
	}
	if len(text) == maxScanBytes {
		return l.scan(file)
	}
	return nil
}

// maxScanBytes is how much of a log is in memory at a time.
const maxScanBytes = 1 << 20
