package lake

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// leaseDuration is how long a killed writer keeps others out. A live one renews its lease
// three times in this time.
const leaseDuration = time.Minute

// Lease is the right to write to a lake.
type Lease struct {
	lake *Lake
	stop context.CancelFunc
	gone chan struct{} // closed once renewal has stopped

	mu      sync.Mutex
	content []byte    // in the store
	expires time.Time // by this machine's monotonic clock
	lost    error
}

// lease is the content of the object.
type lease struct {
	Owner   string    `json:"owner"`
	Host    string    `json:"host"`
	Process int       `json:"process"`
	Expires time.Time `json:"expires"`
	Token   string    `json:"token"`
}

// HeldError says that another writer holds the lake.
type HeldError struct {
	Owner, Host string
	Process     int
	Until       time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s (process %d on %s) is writing to these tables: wait until it has ended; if it was killed, wait until %s",
		e.Owner, e.Process, e.Host, e.Until.UTC().Format(time.RFC3339))
}

// Lock makes this process the lake's only writer until Unlock, or returns a HeldError if
// there is another one. owner names this process in the HeldErrors of others. The lease of
// a dead process of this machine, or of an earlier one with this process's id (in a
// container that was restarted), is taken over at once.
func (l *Lake) Lock(ctx context.Context, owner string) (*Lease, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("lock the lake: %w", err)
	}
	old, err := readAll(ctx, l.store, l.prefix+leaseKey)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("lock the lake: %w", err)
	}
	if err := heldBy(old, host); err != nil {
		return nil, err
	}
	held := &Lease{lake: l, content: old, gone: make(chan struct{})}
	mine := lease{Owner: owner, Host: host, Process: os.Getpid(), Token: rand.Text()}
	if err := held.renew(ctx, mine); err != nil {
		return nil, fmt.Errorf("lock the lake: %w", err)
	}
	l.mu.Lock()
	l.unjudged, l.unmarked = false, map[tableDay]bool{} // others may have written meanwhile
	l.mu.Unlock()
	l.lease.Store(held)
	renewal, stop := context.WithCancel(context.WithoutCancel(ctx))
	held.stop = stop
	go held.keep(renewal, mine)
	return held, nil
}

// heldBy returns a HeldError if content is the lease of a writer that may still be alive.
func heldBy(content []byte, host string) error {
	if content == nil {
		return nil
	}
	var other lease
	if err := json.Unmarshal(content, &other); err != nil {
		return fmt.Errorf("read the lake's lease %s: %w", leaseKey, err)
	}
	ended := other.Host == host && (other.Process == os.Getpid() || errors.Is(syscall.Kill(other.Process, 0), syscall.ESRCH))
	if ended || time.Now().After(other.Expires) {
		return nil
	}
	return &HeldError{Owner: other.Owner, Host: other.Host, Process: other.Process, Until: other.Expires}
}

func (h *Lease) renew(ctx context.Context, mine lease) error {
	now := time.Now()
	mine.Expires = now.Add(leaseDuration).UTC().Truncate(time.Second)
	content, err := json.Marshal(mine)
	if err != nil {
		return err // callers name the operation
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !bytes.Equal(content, h.content) {
		err := h.lake.store.Swap(ctx, h.lake.prefix+leaseKey, h.content, content)
		if errors.Is(err, ErrChanged) && h.renewed(ctx, mine.Token) {
			err = h.lake.store.Swap(ctx, h.lake.prefix+leaseKey, h.content, content)
		}
		if err != nil {
			return err // names the object
		}
	}
	h.content, h.expires = content, now.Add(leaseDuration)
	return nil
}

// renewed reports whether the store has a renewal of this lease whose response was lost: an
// earlier one, or that of a request which the client then repeated.
func (h *Lease) renewed(ctx context.Context, token string) bool {
	content, err := readAll(ctx, h.lake.store, h.lake.prefix+leaseKey)
	var found lease
	if err != nil || json.Unmarshal(content, &found) != nil || found.Token != token {
		return false
	}
	h.content = content
	return true
}

// keep renews the lease until it is lost or ctx is done.
func (h *Lease) keep(ctx context.Context, mine lease) {
	defer close(h.gone)
	ticks := time.NewTicker(leaseDuration / 3)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		err := h.renew(ctx, mine)
		if errors.Is(err, ErrChanged) {
			h.mu.Lock()
			h.lost = err
			h.mu.Unlock()
			return
		}
		// Other errors may be transient: retry until the lease expires.
	}
}

// Unlock stops the renewal of the lease and gives it up.
func (h *Lease) Unlock(ctx context.Context) error {
	h.stop()
	<-h.gone
	h.lake.lease.Store(nil)
	if err := h.valid(); err != nil {
		return err
	}
	return h.lake.store.Delete(ctx, h.lake.prefix+leaseKey) // the error names the object
}

func (h *Lease) valid() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.lost != nil:
		return fmt.Errorf("another process has begun to write to these tables, so this one stopped; run it again when the other has ended: %w",
			h.lost)
	case time.Now().After(h.expires):
		return errors.New("the lease of these tables expired before it was renewed, so another process may write to them; run this one again")
	}
	return nil
}

// checkLease returns an error unless this process holds a valid lease.
func (l *Lake) checkLease() error {
	held := l.lease.Load()
	if held == nil {
		return errors.New("the lake is not locked: call Lock first")
	}
	return held.valid()
}
