package local

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
)

// Down destroys the stack, stops the local cloud and removes its state. If no
// cloud runs, it only removes the state.
func (p Platform) Down(ctx context.Context, log *progress.Log) error {
	lock, err := lockState(p.State)
	if err != nil {
		return err
	}
	running, err := localcloud.Find(p.State)
	switch {
	case err == nil:
		if err := p.destroy(ctx, running, log); err != nil {
			return err
		}
	case !errors.Is(err, localcloud.ErrDown):
		return fmt.Errorf("find the local cloud of %s: %w", p.State, err)
	}
	if err := removeState(ctx, p.State, lock); err != nil {
		return err
	}
	log.Printf("local cloud stopped, %s removed", p.State)
	return nil
}

func (p Platform) destroy(ctx context.Context, running localcloud.Running, log *progress.Log) error {
	e, err := p.Engine(ctx, running)
	if err != nil {
		return err
	}
	if err := e.Unlock(ctx, log); err != nil {
		return err
	}
	if err := e.RefreshUnready(ctx); err != nil {
		return err
	}
	return e.Destroy(ctx, log, func() error { return os.WriteFile(destroyMarkerPath(p.State), nil, 0o600) })
}
