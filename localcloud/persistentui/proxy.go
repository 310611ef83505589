package persistentui

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/platform"
)

// forwardLive forwards to the pages of a running cluster: Spark's history server, or
// the ResourceManager and its proxy for application masters.
func (s *Service) forwardLive(w http.ResponseWriter, r *http.Request, p emrapi.Page, inHistory bool) {
	s.uses(p.ClusterID).Add(1)
	address, err := s.Primary(p.ClusterID)
	if err != nil {
		http.Error(w, fmt.Sprintf("cluster %s is not running: %v", p.ClusterID, err), http.StatusBadGateway)
		return
	}
	port, prefix := platform.ResourceManagerUI, ""
	if inHistory {
		port, prefix = platform.SparkHistoryUI, historyPath
	}
	proxy(&url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", address, port)}, prefix, s.Log).ServeHTTP(w, r)
}

// Used returns how many requests the pages of a running cluster have had: EMR does not
// regard a cluster as idle whose pages are in use.
func (s *Service) Used(clusterID string) int { return int(s.uses(clusterID).Load()) }

func (s *Service) uses(clusterID string) *atomic.Int64 {
	known, _ := s.used.LoadOrStore(clusterID, new(atomic.Int64))
	count, _ := known.(*atomic.Int64)
	return count
}

// proxy returns a handler that forwards requests below a prefix to a server that does not
// know the prefix. X-Forwarded-Context gives Spark's pages the prefix of their links
// (UIUtils.uiRoot); redirects are rewritten.
func proxy(to *url.URL, prefix string, log *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, prefix)
			r.Out.URL.RawPath = strings.TrimPrefix(r.In.URL.RawPath, prefix)
			r.SetURL(to)
			r.Out.Header.Del("Cookie")
			if prefix != "" {
				r.Out.Header.Set("X-Forwarded-Context", prefix)
			}
		},
		// A server may be stopped at any time, and an idle UI should hold no connections.
		Transport: &http.Transport{DisableKeepAlives: true},
		ModifyResponse: func(r *http.Response) error {
			if location := r.Header.Get("Location"); location != "" {
				r.Header.Set("Location", rewriteLocation(location, prefix))
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			log.Warn("forward to a Spark UI", "path", r.URL.Path, "error", err)
			http.Error(w, fmt.Sprintf("the UI does not answer: %v", err), http.StatusBadGateway)
		},
	}
}

// rewriteLocation maps the redirect of a server below prefix to its path at the front. YARN's
// proxy redirects from an application that has ended to the history server.
func rewriteLocation(location, prefix string) string {
	to, err := url.Parse(location)
	if err != nil || !strings.HasPrefix(to.Path, "/") {
		return location
	}
	if to.Port() == fmt.Sprint(int(platform.SparkHistoryUI)) {
		prefix = historyPath
	}
	to.Scheme, to.Host, to.User = "", "", nil
	if !strings.HasPrefix(to.Path, prefix+"/") {
		to.Path = prefix + to.Path
		if to.RawPath != "" {
			to.RawPath = prefix + to.RawPath
		}
	}
	return to.String()
}
