package localcloud

import (
	"context"

	"github.com/emr-observatory/emr-observatory/simulator"
)

// part handles a resource with a real part: the resource is recorded, and the real part
// follows. Without a function the record is all that there is.
type part struct {
	simulator.Recording
	// put creates the real part, and changes it unless once is set. It is given the record.
	put  func(ctx context.Context, r simulator.Result) error
	once bool
	// exists reports whether the real part is there.
	exists func(ctx context.Context, r simulator.Result) (bool, error)
	// restores has a Read put the real part again, which was lost with a process, or only
	// recorded by an earlier version.
	restores bool
	remove   func(ctx context.Context, r simulator.Request) error
}

// Create implements simulator.Handler.
func (p part) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	recorded, err := r.Recorded()
	if err == nil && p.put != nil {
		err = p.put(ctx, recorded)
	}
	return recorded, err
}

// Update implements simulator.Handler.
func (p part) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	if p.once {
		return p.Recording.Update(ctx, r)
	}
	return p.Create(ctx, r)
}

// Read implements simulator.Handler.
func (p part) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	last := simulator.Result{ID: r.ID, Outputs: r.Outputs}
	switch {
	case p.restores:
		return last, true, p.put(ctx, last)
	case p.exists != nil:
		exists, err := p.exists(ctx, last)
		return last, exists, err
	}
	return p.Recording.Read(ctx, r)
}

// Delete implements simulator.Handler.
func (p part) Delete(ctx context.Context, r simulator.Request) error {
	if p.remove == nil {
		return p.Recording.Delete(ctx, r)
	}
	return p.remove(ctx, r)
}
