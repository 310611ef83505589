package persistentui

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// Retention is how long after its end an application stays in a persistent UI
// (Management Guide, app-history-spark-UI).
const Retention = 30 * 24 * time.Hour

// Service keeps event logs and serves UIs. It implements emrapi.AppUIs, and is the
// http.Handler of the UIs' pages, which must be served with TLS: the cookies are Secure.
type Service struct {
	Dir          string // with event logs by cluster, and FaultFile
	Applications string // tree of package applications, on the host
	JavaHome     string // on the host
	Address      string // host:port at which clients reach the pages
	// Primary returns the address of a running cluster's primary node.
	Primary func(clusterID string) (string, error)
	Clock   clock.PassiveClock // for expiry
	Log     *slog.Logger
	Limits

	collecting sync.Map // locks by cluster id
	used       sync.Map // *atomic.Int64 by cluster id: requests to its live pages
	ended      sync.Map // by cluster id: when its logs were complete, until a server has listed them
	servers    historyServers
	sessions   sessions
	faults     faults
}

// IdleTime is how long a history server runs without requests, unless Limits says otherwise.
const IdleTime = 2 * time.Minute

// Limits are durations, some shorter than EMR's so that callers wait less, and a number of
// servers. The zero value of each means its default.
type Limits struct {
	// AttachTime is the minimum time that a UI is STARTING: 2 s; tens of seconds on EMR.
	AttachTime time.Duration
	// URLLifetime is how long a presigned URL is valid: 1 h, as on EMR.
	URLLifetime time.Duration
	// SessionLifetime is how long a session cookie is valid: 1 h. EMR does not publish its own.
	SessionLifetime time.Duration
	// IdleTime is how long a history server runs without requests; IdleTime if 0.
	IdleTime time.Duration
	// MaxServers is the maximum number of history servers, unless all of them have requests in
	// progress: 3. Each is a JVM of a few hundred MiB.
	MaxServers int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		AttachTime: cmp.Or(l.AttachTime, 2*time.Second), URLLifetime: cmp.Or(l.URLLifetime, time.Hour),
		SessionLifetime: cmp.Or(l.SessionLifetime, time.Hour), IdleTime: cmp.Or(l.IdleTime, IdleTime), MaxServers: cmp.Or(l.MaxServers, 3),
	}
}

// Attach implements emrapi.AppUIs. It waits while a fault keeps UIs in STARTING.
func (s *Service) Attach(ctx context.Context, clusterID string) error {
	timer := time.NewTimer(s.withDefaults().AttachTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return fmt.Errorf("attach the persistent UI of cluster %s: %w", clusterID, ctx.Err())
	}
	err := poll.Until(ctx, poll.Options{Interval: time.Second}, func(context.Context) error {
		if s.fault(stuckStarting) != nil {
			return fmt.Errorf("the fault %s is injected", stuckStarting)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("attach the persistent UI of cluster %s: %w", clusterID, err)
	}
	return nil
}

// Presign implements emrapi.AppUIs.
func (s *Service) Presign(p emrapi.Page) (string, error) {
	lifetime := s.withDefaults().URLLifetime
	if s.fault(expiredURL) != nil {
		lifetime = 0
	}
	token := rand.Text()
	s.sessions.offer(token, p, s.Clock.Now(), lifetime)
	return "https://" + s.Address + presignedPath + "?" + tokenParameter + "=" + token, nil
}

// QuotaFull implements emrapi.AppUIs.
func (s *Service) QuotaFull() bool { return s.fault(quotaFull) != nil }

// Expired implements emrapi.AppUIs.
func (s *Service) Expired(ended time.Time) bool { return s.Clock.Since(ended) > Retention }

// Running returns the ids of the clusters whose history servers run.
func (s *Service) Running() []string { return s.servers.running() }

// Close stops the history servers.
func (s *Service) Close() { s.servers.stopAll() }

// logDir returns the folder of a cluster's event logs.
func (s *Service) logDir(clusterID string) string { return filepath.Join(s.Dir, "logs", clusterID) }

// Expire deletes the logs of applications that ended longer ago than Retention, by the last
// write to each log.
func (s *Service) Expire() error {
	logs, err := filepath.Glob(filepath.Join(s.Dir, "logs", "*", "*"))
	if err != nil {
		return fmt.Errorf("expire event logs: %w", err)
	}
	for _, log := range logs {
		written, err := lastWritten(log)
		if err == nil && s.Expired(written) {
			err = os.RemoveAll(log)
		}
		if err != nil {
			return fmt.Errorf("expire event logs: %w", err)
		}
	}
	return nil
}

// lastWritten returns when a log was last written to: of a rolled one, the newest file.
func lastWritten(log string) (time.Time, error) {
	info, err := os.Stat(log)
	if err != nil {
		return time.Time{}, err
	}
	if !info.IsDir() {
		return info.ModTime(), nil
	}
	var newest time.Time
	entries, err := os.ReadDir(log)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest, err
}
