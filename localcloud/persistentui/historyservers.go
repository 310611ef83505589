package persistentui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// historyServers holds the servers that are running or starting, by cluster id.
type historyServers struct {
	mu   sync.Mutex
	byID map[string]*entry
}

// entry is a server that may still be starting. Callers that find it wait for that.
type entry struct {
	started chan struct{} // closed once server or err is set
	server  *historyServer
	err     error

	requests int         // in progress
	used     time.Time   // end of the last request
	idle     *time.Timer // stops the server
}

// acquire returns a cluster's history server, and starts it if necessary. It keeps running
// at least until release is called.
func (s *Service) acquire(ctx context.Context, clusterID string) (server *historyServer, release func(), err error) {
	e, found := s.servers.enter(clusterID, s.withDefaults().MaxServers)
	if !found {
		// The start outlives the request that triggered it: others wait for it, too.
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

// awaitAll waits until a server that was running when its cluster ended lists all
// applications of the cluster.
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

// enter registers a request. found is false if the caller has to start the server. A server
// that has failed or exited is replaced. Beyond limit servers, an idle one is stopped first.
func (h *historyServers) enter(clusterID string, limit int) (e *entry, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found = h.byID[clusterID]
	if found && e.hasStarted() && (e.err != nil || !e.server.alive()) {
		found = false
	}
	if !found {
		h.makeRoom(limit)
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

// makeRoom stops the server that has been idle longest if there are already limit servers.
// The caller holds the lock.
func (h *historyServers) makeRoom(limit int) {
	if len(h.byID) < limit {
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

// remove stops a server without requests. The caller holds the lock.
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

// leave unregisters a request, and stops the server once it has been idle for idleTime.
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

// running returns the ids of clusters with a server.
func (h *historyServers) running() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.byID))
}

// stopAll stops every server, after waiting for those that are starting.
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
