package limit

import (
	"errors"
	"fmt"
	"hash/maphash"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Limits are the share of one cluster in an hour, by signal: of metrics how many series it may have,
// of logs the bytes of its records as OTLP encodes them, with those of what they are from and
// recordBytes more each, of traces and profiles how many there may be, where large ones count as
// several (spanBytes, profileBytes). A signal that is missing has no limit.
type Limits map[string]int64

// Parse reads limits, given as signal=number. It reports everything malformed at once.
func Parse(given []string) (Limits, error) {
	signals := []string{platform.SignalMetrics, platform.SignalLogs, platform.SignalTraces, platform.SignalProfiles}
	limits, errs := Limits{}, []error(nil)
	for _, one := range given {
		name, text, _ := strings.Cut(one, "=")
		number, err := strconv.ParseInt(text, 10, 64)
		if err == nil && number > 0 && slices.Contains(signals, name) {
			limits[name] = number
			continue
		}
		errs = append(errs, fmt.Errorf("limit %q: must be %s, = and a number above 0", one, strings.Join(signals, " or ")))
	}
	return limits, errors.Join(errs...)
}

// What a store keeps of an item besides its content, and what size counts as one more.
const (
	recordBytes  = 100
	spanBytes    = 4 << 10
	profileBytes = 1 << 20
)

// window is the time to which shares refer.
const window = time.Hour

// Limiter applies limits to clusters.
type Limiter struct {
	limits Limits
	set    *metrics.Set
	seed   maphash.Seed
	pods   netip.Prefix

	mu       sync.Mutex
	clusters map[netip.Addr]string // by sender
	shares   map[string]*share     // by cluster, or by the address of an unknown sender
	swept    time.Time
}

// New returns a limiter. Its metrics are in set.
func New(limits Limits, set *metrics.Set) *Limiter {
	return &Limiter{
		limits: limits, set: set, seed: maphash.MakeSeed(), pods: netip.MustParsePrefix(platform.KubernetesPodCIDR),
		shares: map[string]*share{}, swept: time.Now(),
	}
}

// SetSenders replaces what is known of senders: the id of the cluster of each address. What they have
// used of shares of their own counts as their cluster's.
func (l *Limiter) SetSenders(clusters map[netip.Addr]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clusters = clusters
	for address, cluster := range clusters {
		if own := l.shares[address.String()]; own != nil {
			own.unregister(l.set)
			delete(l.shares, address.String())
			l.shareOf(cluster, "", time.Now()).absorb(own)
		}
	}
}

// Profile takes a profile of a sender, whose address may have a port, from its cluster's share. It
// returns nil if the share is used up, and counts that; otherwise a function that gives the profile
// back, for one that was not stored. A profile of many bytes counts as several; bytes are below zero if
// their number is not known.
func (l *Limiter) Profile(sender string, bytes int64) (giveBack func()) {
	s := l.share(sender)
	if s == nil {
		return func() {}
	}
	amount := 1 + bytes/profileBytes
	if bytes < 0 {
		amount = 1 + platform.MaxProfileMiB<<20/profileBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refill(time.Now())
	if !s.take(platform.SignalProfiles, amount) {
		s.refused[platform.SignalProfiles].Inc()
		return nil
	}
	return func() { s.giveBack(platform.SignalProfiles, amount) }
}

// share returns the share of a sender's cluster; nil if it is a pod of the control node. What is no
// address has a share, too.
func (l *Limiter) share(sender string) *share {
	address, err := netip.ParseAddr(sender)
	if err != nil {
		if withPort, err := netip.ParseAddrPort(sender); err == nil {
			address = withPort.Addr()
		}
	}
	address = address.Unmap().WithZone("")
	if l.pods.Contains(address) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.sweep(now)
	if cluster := l.clusters[address]; cluster != "" {
		return l.shareOf(cluster, "", now)
	}
	return l.shareOf("", address.String(), now)
}

// shareOf returns the share of a cluster, or of a sender of which no cluster is known. The caller holds
// the lock.
func (l *Limiter) shareOf(cluster, sender string, now time.Time) *share {
	s := l.shares[cluster+sender]
	if s == nil {
		labels := fmt.Sprintf("%s=%q", platform.Cluster.Metric(), cluster)
		if cluster == "" {
			labels = fmt.Sprintf("%s=%q", platform.LimitSender, sender)
		}
		s = newShare(l, labels, now)
		l.shares[cluster+sender] = s
	}
	s.used = now
	return s
}

// sweep forgets the shares of which nothing was used for the time after which they are whole again.
func (l *Limiter) sweep(now time.Time) {
	if now.Sub(l.swept) < window {
		return
	}
	l.swept = now
	for key, s := range l.shares {
		if now.Sub(s.used) > window {
			s.unregister(l.set)
			delete(l.shares, key)
		}
	}
}
