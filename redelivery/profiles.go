package redelivery

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery/limit"
)

const (
	// maxProfileBytes bounds a profile as it is sent, compressed. Pyroscope's own limit, of what
	// it decompresses, is the same (max_profile_size_bytes).
	maxProfileBytes = platform.MaxProfileMiB << 20

	// maxProfiles bounds how many profiles are on their way at once, each with a buffer of 32 KiB.
	maxProfiles = 64

	// maxProfileConnections bounds the connections of nodes: this process relays all OTLP, too, and
	// each takes some 20 KB of its memory. The launcher opens one for each profile, and closes it.
	maxProfileConnections = 512

	// profileReadTimeout ends a request whose body is not there by then, which would hold one of
	// maxProfiles. The launcher waits 10 s for an answer (Profile.ANSWER_MILLIS).
	profileReadTimeout = 30 * time.Second
	profileHeaderBytes = 16 << 10 // the labels are in the query
)

// MetricProfilesRefused counts what nodes asked of Pyroscope and did not get, by LabelReason.
const (
	MetricProfilesRefused = "observatory_redelivery_refused_profiles_total"
	LabelReason           = "reason"
)

// Values of LabelReason.
const (
	refusedRequest = "request" // anything but a profile: what Pyroscope keeps is of all clusters
	refusedSize    = "size"    // larger than maxProfileBytes
	refusedBusy    = "busy"    // maxProfiles or maxProfileConnections were there; the sender tries again
)

// profiles passes profiles from the nodes to Pyroscope, and nothing else: any job on any node can
// connect, and Pyroscope asks nobody for a password.
type profiles struct {
	proxy       *httputil.ReverseProxy
	connections atomic.Int64
	running     atomic.Int64
	limiter     *limit.Limiter
	refused     map[string]*metrics.Counter // by reason
}

// ProfilesServer returns a server for the nodes. It passes POST /ingest on to Pyroscope at target,
// http://host:port, with its query and its body and no other header than the body's; the answer is
// Pyroscope's. It refuses everything else, and counts it among the relay's metrics. Call it once.
func (d *Redelivery) ProfilesServer(address, target string) (*http.Server, error) {
	if !isHostPort(target) {
		return nil, fmt.Errorf("profiles %q: must be http://host:port", target)
	}
	host, log := strings.TrimPrefix(target, "http://"), slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn)
	p := &profiles{limiter: d.limiter, refused: map[string]*metrics.Counter{}}
	for _, reason := range []string{refusedRequest, refusedSize, refusedBusy} {
		p.refused[reason] = d.metrics.NewCounter(fmt.Sprintf("%s{%s=%q}", MetricProfilesRefused, LabelReason, reason))
	}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { rewrite(r, host) },
		ErrorHandler: p.failed,
		// The relay's own client has a timeout, after which Pyroscope may still store the profile:
		// a sender that heard of a failure would send it twice.
		Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, MaxIdleConnsPerHost: maxProfiles},
		ErrorLog:  log,
	}
	server := &http.Server{
		Addr: address, Handler: p, MaxHeaderBytes: profileHeaderBytes, ConnState: p.limit,
		ReadHeaderTimeout: dialTimeout, ReadTimeout: profileReadTimeout,
		ErrorLog: log,
	}
	server.SetKeepAlivesEnabled(false)
	return server, nil
}

// limit closes connections beyond maxProfileConnections.
func (p *profiles) limit(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if p.connections.Add(1) > maxProfileConnections {
			p.refused[refusedBusy].Inc()
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		p.connections.Add(-1)
	case http.StateActive, http.StateIdle:
	}
}

// rewrite makes the request to Pyroscope: of what the sender chose it has the query and the body.
func rewrite(r *httputil.ProxyRequest, host string) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path, r.Out.URL.RawPath = "http", host, platform.ProfileIngestPath, ""
	r.Out.Host = ""
	r.Out.Header = http.Header{}
	for _, name := range []string{"Content-Type", "Content-Encoding"} {
		if values := r.In.Header.Values(name); len(values) > 0 {
			r.Out.Header[name] = values
		}
	}
}

// ServeHTTP implements http.Handler.
func (p *profiles) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if in.Method != http.MethodPost || in.URL.EscapedPath() != platform.ProfileIngestPath || in.Header.Get("Upgrade") != "" {
		p.refuse(w, refusedRequest, http.StatusForbidden, "only POST "+platform.ProfileIngestPath+" is open to nodes")
		return
	}
	if in.ContentLength > maxProfileBytes {
		p.refuse(w, refusedSize, http.StatusRequestEntityTooLarge, tooLarge())
		return
	}
	if p.running.Add(1) > maxProfiles {
		p.running.Add(-1)
		w.Header().Set("Retry-After", "1")
		p.refuse(w, refusedBusy, http.StatusTooManyRequests, fmt.Sprintf("%d profiles are on their way", maxProfiles))
		return
	}
	defer p.running.Add(-1)
	giveBack := p.limiter.Profile(in.RemoteAddr, in.ContentLength)
	if giveBack == nil {
		http.Error(w, "the cluster has sent as many profiles as its limit allows in an hour", http.StatusForbidden)
		return
	}
	in.Body = http.MaxBytesReader(w, in.Body, maxProfileBytes)
	answer := &recordedStatus{ResponseWriter: w}
	p.proxy.ServeHTTP(answer, in)
	if answer.status/100 != 2 {
		giveBack() // the sender tries again, or Pyroscope has refused it
	}
}

// recordedStatus remembers the status of a response.
type recordedStatus struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recordedStatus) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func tooLarge() string {
	return fmt.Sprintf("the profile has more than %d MiB: shorten its interval", platform.MaxProfileMiB)
}

// failed answers a request that did not reach Pyroscope. The launcher sends the profile again
// after a status of 500 or more.
func (p *profiles) failed(w http.ResponseWriter, _ *http.Request, err error) {
	var size *http.MaxBytesError
	if errors.As(err, &size) {
		p.refuse(w, refusedSize, http.StatusRequestEntityTooLarge, tooLarge())
		return
	}
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

func (p *profiles) refuse(w http.ResponseWriter, reason string, status int, text string) {
	p.refused[reason].Inc()
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the sender may be gone
}
