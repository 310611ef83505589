package persistentui

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// Paths and names of the front.
const (
	presignedPath  = "/presigned"
	tokenParameter = "token"
	cookieName     = "app-ui-session"
	historyPath    = "/shs" // of Spark's history server, as on EMR
	proxyPath      = "/proxy/"
	yarnPath       = "/cluster"
)

// ServeHTTP opens presigned URLs and forwards the requests of their sessions.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == presignedPath {
		s.open(w, r)
		return
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		refuse(w)
		return
	}
	page, ok := s.sessions.find(cookie.Value, s.Clock.Now())
	if !ok {
		refuse(w)
		return
	}
	if f := s.pageFault(page.ClusterID, r.URL.RequestURI()); f != nil {
		if answered := s.fail(w, r, f, cookie.Value); answered {
			return
		}
		if f.Kind == truncated {
			w = &truncatingWriter{ResponseWriter: w, left: f.bytes()}
		}
	}
	s.forward(w, r, page)
}

// refuse responds to a request without a session.
func refuse(w http.ResponseWriter) {
	http.Error(w, "Unauthorized: open this page through a new presigned URL", http.StatusUnauthorized)
}

// open begins the session of a presigned URL and redirects to its page.
func (s *Service) open(w http.ResponseWriter, r *http.Request) {
	lifetime := s.withDefaults().SessionLifetime
	cookie, page, ok := s.sessions.begin(r.URL.Query().Get(tokenParameter), s.Clock.Now(), lifetime)
	if !ok {
		http.Error(w, "Forbidden: the presigned URL has expired or has already been used", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: cookie, Path: "/", MaxAge: int(lifetime.Seconds()), Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, pagePath(page), http.StatusFound)
}

// pagePath returns the path of the page that a presigned URL opens.
func pagePath(p emrapi.Page) string {
	switch {
	case p.Live == types.OnClusterAppUITypeApplicationMaster:
		return proxyPath + p.ApplicationID + "/"
	case p.Live == types.OnClusterAppUITypeResourceManager && p.ApplicationID == "":
		return yarnPath
	case p.Live == types.OnClusterAppUITypeResourceManager:
		return yarnPath + "/app/" + p.ApplicationID
	case p.ApplicationID != "":
		return historyPath + "/history/" + p.ApplicationID + "/"
	}
	return historyPath + "/"
}

// fail applies a fault, and reports whether that completed the response.
func (s *Service) fail(w http.ResponseWriter, r *http.Request, f *Fault, cookie string) bool {
	switch f.Kind {
	case unauthorized:
		s.sessions.end(cookie)
		refuse(w)
	case loginPage:
		s.sessions.end(cookie)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Sign in</title></head>"+
			"<body><form action=\"/login\">Sign in</form></body></html>\n")
	case throttled:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Too Many Requests", http.StatusTooManyRequests)
	case serverError:
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	case slow:
		timer := time.NewTimer(f.delay())
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		return false
	default:
		return false
	}
	return true
}

// truncatingWriter breaks the connection after some bytes of the response.
type truncatingWriter struct {
	http.ResponseWriter
	left int
}

func (t *truncatingWriter) Write(p []byte) (int, error) {
	if len(p) <= t.left {
		t.left -= len(p)
		return t.ResponseWriter.Write(p)
	}
	_, _ = t.ResponseWriter.Write(p[:t.left])
	_ = http.NewResponseController(t.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// forward forwards a session's request to the server of its page.
func (s *Service) forward(w http.ResponseWriter, r *http.Request, p emrapi.Page) {
	inHistory := r.URL.Path == historyPath || strings.HasPrefix(r.URL.Path, historyPath+"/")
	switch {
	case r.URL.Path == "/" || r.URL.Path == historyPath:
		http.Redirect(w, r, pagePath(p), http.StatusFound)
	case p.Live != "":
		s.forwardLive(w, r, p, inHistory)
	case inHistory:
		s.forwardHistory(w, r, p)
	default:
		http.NotFound(w, r)
	}
}

// forwardHistory forwards to the cluster's history server, which it starts if necessary.
func (s *Service) forwardHistory(w http.ResponseWriter, r *http.Request, p emrapi.Page) {
	server, release, err := s.acquire(r.Context(), p.ClusterID)
	if err != nil {
		s.Log.Warn("open persistent UI", "cluster", p.ClusterID, "error", err)
		http.Error(w, fmt.Sprintf("the history server of %s did not start: %v", p.ClusterID, err), http.StatusBadGateway)
		return
	}
	defer release()
	proxy(server.url, historyPath, s.Log).ServeHTTP(w, r)
}
