package persistentui

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// session is the right to open a page until it expires.
type session struct {
	page    emrapi.Page
	expires time.Time
}

// sessions holds the unused presigned URLs, by token, and the sessions of used ones, by
// cookie. They are in memory only: a client whose session is lost requests another URL.
type sessions struct {
	mu      sync.Mutex
	offered map[string]session
	open    map[string]session
}

// offer makes a presigned URL's token valid for one use, until it expires.
func (s *sessions) offer(token string, p emrapi.Page, now time.Time, lifetime time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offered == nil {
		s.offered, s.open = map[string]session{}, map[string]session{}
	}
	for _, all := range []map[string]session{s.offered, s.open} {
		for id, old := range all {
			if !now.Before(old.expires) {
				delete(all, id)
			}
		}
	}
	s.offered[token] = session{p, now.Add(lifetime)}
}

// begin consumes a token. It returns the session's cookie and page, or false if the token
// has expired or been used.
func (s *sessions) begin(token string, now time.Time, lifetime time.Duration) (string, emrapi.Page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	offered, ok := s.offered[token]
	delete(s.offered, token)
	if !ok || !now.Before(offered.expires) {
		return "", emrapi.Page{}, false
	}
	cookie := rand.Text()
	s.open[cookie] = session{offered.page, now.Add(lifetime)}
	return cookie, offered.page, true
}

// find returns a session's page, or false if there is none or it has expired.
func (s *sessions) find(cookie string, now time.Time) (emrapi.Page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.open[cookie]
	return found.page, ok && now.Before(found.expires)
}

// end ends a session before it expires.
func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, cookie)
}
