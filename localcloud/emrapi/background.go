package emrapi

import "context"

// task is work on a cluster's nodes that its termination cancels.
type task struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// startBackground starts work on a cluster's nodes. The caller holds the lock.
func (s *Server) startBackground(ctx context.Context, id string, do func(context.Context)) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &task{cancel: cancel, done: make(chan struct{})}
	s.background[id] = append(s.background[id], t)
	s.working.Go(func() {
		defer close(t.done)
		defer cancel(nil)
		do(ctx)
	})
}

// launch launches a cluster once.
func (s *Server) launch(ctx context.Context, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.launched[id] {
		return
	}
	s.launched[id] = true
	s.startBackground(ctx, id, func(ctx context.Context) {
		if err := s.nodes.Launch(ctx, id); err != nil {
			s.log.Warn("launch EMR cluster", "cluster", id, "error", err)
		}
	})
}
