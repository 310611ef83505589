package persistentui

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// session is a page that its holder may open until a time.
type session struct {
	page    emrapi.Page
	expires time.Time
}

// sessions are the presigned URLs that nobody has opened yet, by token, and the
// sessions of those that were opened, by cookie. They are in memory only: a client
// that is not let in asks for another URL.
type sessions struct {
	mu      sync.Mutex
	offered map[string]session
	open    map[string]session
}

// offer makes a presigned URL's token good for one use until a time.
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

// begin uses a token up. It returns the session's cookie, or false if the token has
// expired or was used.
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

// find returns the page of a session that has not expired.
func (s *sessions) find(cookie string, now time.Time) (emrapi.Page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.open[cookie]
	return found.page, ok && now.Before(found.expires)
}

// end ends a session before its time.
func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, cookie)
}
