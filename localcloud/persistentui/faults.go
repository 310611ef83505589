package persistentui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// FaultFile is the file in Service.Dir that injects faults. It is read at each request;
// without it nothing fails. This example ends the session at the third request for
// executors:
//
//	[{"kind": "unauthorized", "path": "/allexecutors$", "after": 2, "times": 1}]
const FaultFile = "faults.json"

// Kinds of faults.
const (
	expiredURL    = "expired-url"    // new URLs have already expired
	unauthorized  = "unauthorized"   // the session ends: 401
	loginPage     = "login-page"     // the session ends: 200 with a login page
	throttled     = "throttled"      // 429 with Retry-After
	serverError   = "server-error"   // 500
	slow          = "slow"           // the response begins after DelayMS
	truncated     = "truncated"      // the connection breaks after Bytes of the response
	stuckStarting = "stuck-starting" // UIs stay in STARTING
	quotaFull     = "quota-full"     // no more UIs are created
)

// Fault is an injected fault.
type Fault struct {
	Kind string `json:"kind"`
	// Path is a regular expression that the request's path and query must match; "" = any page.
	// Faults of EMR's operations (expired-url, stuck-starting, quota-full) have neither it
	// nor a cluster.
	Path string `json:"path,omitempty"`
	// Cluster is the id of the cluster whose pages fail; "" = those of any.
	Cluster string `json:"cluster,omitempty"`
	// After is how many matching requests succeed first, Times how many then fail; 0 = all.
	After int `json:"after,omitempty"`
	Times int `json:"times,omitempty"`
	// DelayMS is the delay of a slow response in milliseconds: 3,000 unless set.
	DelayMS int `json:"delay_ms,omitempty"`
	// Bytes is the length of a truncated response: 64 unless set.
	Bytes int `json:"bytes,omitempty"`

	path *regexp.Regexp
	seen int // matching requests
}

func (f *Fault) delay() time.Duration {
	return time.Duration(cmp.Or(f.DelayMS, 3000)) * time.Millisecond
}

func (f *Fault) bytes() int { return cmp.Or(f.Bytes, 64) }

// faults holds the faults of the file, with counts since it last changed.
type faults struct {
	mu   sync.Mutex
	text string
	list []*Fault
}

// fault returns the fault of a kind of EMR's operations that applies now, or nil. An invalid
// file is logged and injects nothing.
func (s *Service) fault(kind string) *Fault {
	return s.anyFault(func(f *Fault) bool { return f.Kind == kind })
}

// pageFault returns the fault that applies to the request for a page of a cluster, or nil.
func (s *Service) pageFault(cluster, path string) *Fault {
	return s.anyFault(func(f *Fault) bool {
		return f.Kind != expiredURL && f.Kind != stuckStarting && f.Kind != quotaFull &&
			(f.Cluster == "" || f.Cluster == cluster) && f.path.MatchString(path)
	})
}

// anyFault returns the first matching fault that applies now, or nil.
func (s *Service) anyFault(matches func(*Fault) bool) *Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if err := s.faults.read(filepath.Join(s.Dir, FaultFile)); err != nil {
		s.Log.Error("read faults", "error", err)
		return nil
	}
	for _, f := range s.faults.list {
		if !matches(f) {
			continue
		}
		f.seen++
		if f.seen > f.After && (f.Times == 0 || f.seen <= f.After+f.Times) {
			return f
		}
	}
	return nil
}

// read parses the file if it has changed.
func (f *faults) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(text) == f.text {
		return nil
	}
	f.text, f.list = string(text), nil
	if len(text) == 0 {
		return nil
	}
	var list []*Fault
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	known := []string{
		expiredURL, unauthorized, loginPage, throttled, serverError, slow, truncated, stuckStarting, quotaFull,
	}
	for i, fault := range list {
		if !slices.Contains(known, fault.Kind) {
			return fmt.Errorf("%s: [%d].kind: %q: not a kind of fault", file, i, fault.Kind)
		}
		if fault.path, err = regexp.Compile(fault.Path); err != nil {
			return fmt.Errorf("%s: [%d].path: %w", file, i, err)
		}
	}
	f.list = list
	return nil
}
