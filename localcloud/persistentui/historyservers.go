package persistentui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// historyServers are those that run or start, by cluster id.
type historyServers struct {
	mu   sync.Mutex
	byID map[string]*entry
}

// entry is a server's place. Whoever finds it waits until it has started.
type entry struct {
	started chan struct{} // closed once server or err is set
	server  *historyServer
	err     error

	requests int // being answered
	used     time.Time
	idle     *time.Timer // stops it
}

// acquire returns a cluster's history server, started if need be, which runs at least
// until release is called.
func (s *Service) acquire(ctx context.Context, clusterID string) (server *historyServer, release func(), err error) {
	e, found := s.servers.enter(clusterID, s.withDefaults().MaxServers)
	if !found {
		// The start outlives the request that wanted it: others wait for it, too.
		go func() {
			e.server, e.err = s.startHistoryServer(context.WithoutCancel(ctx), clusterID)
			close(e.started)
		}()
	}
	release = func() { s.servers.leave(clusterID, e, s.withDefaults().IdleTime) }
	select {
	case <-e.started:
	case <-ctx.Done():
		release()
		return nil, nil, fmt.Errorf("wait for the history server: %w", ctx.Err())
	}
	if e.err != nil {
		release()
		return nil, nil, e.err
	}
	if err := s.awaitAll(ctx, clusterID, e); err != nil {
		release()
		return nil, nil, err
	}
	return e.server, release, nil
}

// awaitAll waits until a server that was running when its cluster ended lists all that
// the cluster has run.
func (s *Service) awaitAll(ctx context.Context, clusterID string, e *entry) error {
	ended, ok := s.ended.Load(clusterID)
	if at, isTime := ended.(time.Time); ok && isTime {
		if err := e.server.awaitListed(ctx, at); err != nil {
			return fmt.Errorf("wait for the history server: %w", err)
		}
		s.ended.CompareAndDelete(clusterID, ended)
	}
	return nil
}

// enter counts a request in. found is false if the caller has to start the server. A
// server that has exited by itself is replaced, and one more than most is stopped first.
func (h *historyServers) enter(clusterID string, most int) (e *entry, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found = h.byID[clusterID]
	if found && e.hasStarted() && (e.err != nil || !e.server.alive()) {
		found = false
	}
	if !found {
		h.makeRoom(most)
		e = &entry{started: make(chan struct{})}
		if h.byID == nil {
			h.byID = map[string]*entry{}
		}
		h.byID[clusterID] = e
	}
	e.requests++
	if e.idle != nil {
		e.idle.Stop()
	}
	return e, found
}

// makeRoom stops the server that has been without requests longest, if there are as
// many as may be. The caller holds the lock.
func (h *historyServers) makeRoom(most int) {
	if len(h.byID) < most {
		return
	}
	oldest := ""
	for id, e := range h.byID {
		if e.requests == 0 && (oldest == "" || e.used.Before(h.byID[oldest].used)) {
			oldest = id
		}
	}
	if oldest != "" {
		h.remove(oldest)
	}
}

// remove stops a server that answers no request. The caller holds the lock.
func (h *historyServers) remove(clusterID string) {
	e := h.byID[clusterID]
	delete(h.byID, clusterID)
	if e.idle != nil {
		e.idle.Stop()
	}
	if e.hasStarted() && e.server != nil {
		e.server.stop()
	}
}

// leave counts a request out, and stops the server when none has come for a while.
func (h *historyServers) leave(clusterID string, e *entry, idleTime time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.requests--
	e.used = time.Now()
	if e.requests > 0 {
		return
	}
	e.idle = time.AfterFunc(idleTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.byID[clusterID] == e && e.requests == 0 {
			h.remove(clusterID)
		}
	})
}

func (e *entry) hasStarted() bool {
	select {
	case <-e.started:
		return true
	default:
		return false
	}
}

func (h *historyServers) running() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.byID))
}

// stopAll stops every server, once those that start have started.
func (h *historyServers) stopAll() {
	h.mu.Lock()
	all := h.byID
	h.byID = nil
	h.mu.Unlock()
	for _, e := range all {
		<-e.started
		if e.server != nil {
			e.server.stop()
		}
	}
}
