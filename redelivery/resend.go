package redelivery

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
)

// resendAll resends the requests that are due, the oldest first. Those that the store
// cannot accept now, or for which the time is over, are due again at the next
// heartbeat.
func (s *store) resendAll(ctx context.Context, due []*request) {
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	sent, lastError := 0, ""
	for _, r := range due {
		status, err := s.resendOne(ctx, r)
		if err != nil {
			lastError = err.Error()
			if ctx.Err() != nil {
				break
			}
			continue
		}
		if status/100 == 2 {
			sent++
		} else {
			lastError = http.StatusText(status)
		}
		if !retryable(status) {
			s.recordResult(r, status)
		}
	}
	if sent > 0 || lastError != s.lastError { // not every second while a disk is full
		slog.Info("resent", "store", s.name, "requests", sent, "of", len(due), "lastError", lastError)
	}
	s.lastError = lastError
}

// recordResult records the status with which the store answered a resent request.
func (s *store) recordResult(r *request, status int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r.resend, r.beats, r.lookups = false, 0, 0
	if status/100 == 2 {
		s.resent.Inc()
		return
	}
	s.refused.Inc() // the store will never accept it
	s.removeWhere(func(other *request) bool { return other == r })
}

// resendOne resends a request, without the lines that the store has.
func (s *store) resendOne(ctx context.Context, r *request) (status int, err error) {
	if s.keepsDuplicates && r.lookups < maxLookups {
		lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
		missing, err := s.missingLines(lookup, r)
		cancel()
		if err != nil {
			r.lookups++
			return 0, err
		}
		if missing == nil {
			return http.StatusOK, nil
		}
		r = missing
	}
	response, err := s.send(ctx, r)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body) // leaves the connection reusable
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// retryable reports whether a sender must retry after an HTTP status (OTLP
// specification, "Retryable response codes"); the collector does the same.
func retryable(status int) bool {
	return slices.Contains([]int{
		http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, status)
}
