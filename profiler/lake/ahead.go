package lake

import (
	"context"
	"iter"
	"sync"
)

// Ahead calls read for 0 to n-1 and yields its results in order. It ends after the first error, which it yields in its
// place. Up to most calls run at a time, so that the next results are being read while one is used: waiting for S3
// takes longer than the rest. No call outlives the iteration.
func Ahead[T any](ctx context.Context, n, most int, read func(ctx context.Context, i int) (T, error)) iter.Seq2[T, error] {
	type result struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		results := make([]chan result, n)
		begin := func(i int) {
			if i >= n {
				return
			}
			results[i] = make(chan result, 1)
			running.Go(func() {
				value, err := read(ctx, i)
				results[i] <- result{value, err}
			})
		}
		for i := range most {
			begin(i)
		}
		for i := range n {
			got := <-results[i]
			if got.err == nil {
				begin(i + most)
			}
			if !yield(got.value, got.err) || got.err != nil {
				return
			}
		}
	}
}
