package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// slowStore has objects whose content is their key. answer says how long each takes.
type slowStore struct {
	Store
	answer func(key string) (time.Duration, error)

	mu       sync.Mutex
	begun    int // calls of Get
	inFlight int // of those, with a body not yet closed
	most     int // in flight at a time
}

func (s *slowStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.mu.Lock()
	s.begun++
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	pause, err := s.answer(key)
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(pause):
	}
	body := &slowBody{strings.NewReader(key), s}
	if err != nil {
		_ = body.Close()
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return body, nil
}

type slowBody struct {
	io.Reader
	of *slowStore
}

func (b *slowBody) Close() error {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.of.inFlight--
	return nil
}

// counts returns how many objects were requested, are in flight, and were at most in flight.
func (s *slowStore) counts() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []int{s.begun, s.inFlight, s.most}
}

// aSecond makes every object take a second.
func aSecond(string) (time.Duration, error) { return time.Second, nil }

// keysOf yields n keys, then err unless it is nil.
func keysOf(n int, err error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield(fmt.Sprint("key ", i), nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

func text(t *testing.T, content *fetched) string {
	t.Helper()
	all, err := io.ReadAll(content.content())
	require.NoError(t, err)
	return string(all)
}

// Objects are yielded in the order of their keys however long each takes. At most prefetch
// are fetched at a time, and none long before it is read.
func TestObjectsAreFetchedAhead(t *testing.T) {
	const n = 100
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		r, reader := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
		s := &slowStore{answer: func(string) (time.Duration, error) { return time.Duration(r.IntN(1000)) * time.Millisecond, nil }}
		next := 0
		for content, err := range fetchAhead(t.Context(), s, keysOf(n, nil)) {
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("key ", next), content.key)
			require.Equal(t, content.key, text(t, content))
			next++
			if reader.IntN(4) == 0 {
				time.Sleep(2 * time.Second) // meanwhile the next ones are fetched
			}
			require.LessOrEqual(t, s.counts()[0], next+prefetch-1)
		}
		require.Equal(t, n, next)
		require.Equal(t, []int{n, 0, prefetch}, s.counts())
	})
}

// For a reader that takes no time, requests overlap.
func TestPrefetchedRequestsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		for _, err := range fetchAhead(t.Context(), &slowStore{answer: aSecond}, keysOf(4*prefetch, nil)) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 4*prefetch, n)
		require.Equal(t, 4*time.Second, time.Since(began))
	})
}

// A failed fetch, or listing, is an error in its place that names the key, even if another
// one fails sooner.
func TestErrorsKeepTheirPlace(t *testing.T) {
	broken, lost := errors.New("broken"), errors.New("lost")
	s := &slowStore{answer: func(key string) (time.Duration, error) {
		switch key {
		case "key 3":
			return time.Minute, broken
		case "key 4":
			return 0, errors.New("sooner")
		}
		return aSecond(key)
	}}
	synctest.Test(t, func(t *testing.T) {
		var got []string
		for content, err := range fetchAhead(t.Context(), s, keysOf(6, lost)) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, content.key)
		}
		require.Equal(t, []string{"key 0", "key 1", "key 2", "read key 3: broken", "read key 4: sooner", "key 5", "lost"}, got)
		require.Zero(t, s.counts()[1])
	})
}

// No request is in flight once the reader stops, and cancelling the context cancels the
// requests.
func TestReaderStopsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{answer: func(key string) (time.Duration, error) {
			if key == "key 0" {
				return 0, nil
			}
			return time.Hour, nil
		}}
		began := time.Now()
		for _, err := range fetchAhead(t.Context(), s, keysOf(20, nil)) {
			require.NoError(t, err)
			break
		}
		require.Equal(t, []int{prefetch, 0}, s.counts()[:2])

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var failed error
		for _, err := range fetchAhead(ctx, s, keysOf(20, nil)) {
			stop()
			if err != nil {
				failed = err
				break
			}
		}
		require.ErrorIs(t, failed, context.Canceled)
		require.ErrorContains(t, failed, "key 1")
		require.Zero(t, s.counts()[1])
		require.Zero(t, time.Since(began))
	})
}

// Ahead yields results in order however long each takes, runs a bounded number of calls, ends after an error or when its
// reader does, and leaves no call behind.
func TestAheadYieldsInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		n, most, fails, takes int
		want                  []int
	}{
		"none":                  {0, 4, -1, 9, nil},
		"fewer than at a time":  {3, 4, -1, 9, []int{0, 1, 2}},
		"one at a time":         {5, 1, -1, 9, []int{0, 1, 2, 3, 4}},
		"several at a time":     {9, 4, -1, 9, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		"one fails":             {9, 4, 5, 9, []int{0, 1, 2, 3, 4, -1}},
		"the reader ends early": {9, 4, -1, 3, []int{0, 1, 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, begun, peak := 0, 0, 0
			count := func(more int) {
				mu.Lock()
				defer mu.Unlock()
				running += more
				begun, peak = begun+max(more, 0), max(peak, running)
			}
			var got []int
			for value, err := range Ahead(t.Context(), c.n, c.most, func(ctx context.Context, i int) (int, error) {
				count(1)
				defer count(-1)
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(time.Duration(c.n-i) * time.Second):
				}
				if i == c.fails {
					return 0, errors.New("no such object")
				}
				return i, nil
			}) {
				if err != nil {
					value = -1
				}
				if got = append(got, value); len(got) == c.takes {
					break
				}
			}
			require.Equal(t, c.want, got, name)
			require.Equal(t, min(c.n, c.most), peak, name)
			require.Zero(t, running, name)
			require.LessOrEqual(t, begun, len(got)+c.most, name)
		})
	}
}
