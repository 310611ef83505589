package tools

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
)

// newCache returns a locked lake in a temporary folder. remove unlocks and removes it.
func newCache(ctx context.Context) (cache *lake.Lake, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "observatory-tools-")
	if err != nil {
		return nil, nil, fmt.Errorf("create the tools' cache: %w", err)
	}
	cache, lease, err := lockedLake(ctx, dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return cache, func() error {
		if err := errors.Join(lease.Unlock(context.WithoutCancel(ctx)), os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("remove the tools' cache: %w", err)
		}
		return nil
	}, nil
}

func lockedLake(ctx context.Context, dir string) (*lake.Lake, *lake.Lease, error) {
	store, err := lake.NewFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	cache, err := lake.Open(ctx, store, "")
	if err != nil {
		return nil, nil, err
	}
	lease, err := cache.Lock(ctx, "tools")
	return cache, lease, err
}
