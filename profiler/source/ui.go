package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
)

// uiKey is the object with the ids of persistent UIs, next to the lake's manifests: EMR has
// no call that lists or deletes them, and allows 200 at a time.
const uiKey = "_manifest/persistent_uis.json"

// Store stores the ids of persistent UIs. lake.Store implements it.
type Store interface {
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Swap(ctx context.Context, key string, old, content []byte) error
}

// uis opens persistent UIs, one per cluster.
type uis struct {
	emr     *emr.Client
	store   Store
	key     string
	limit   int // per account and region
	timeout time.Duration

	mu sync.Mutex // held while a UI is created
}

// keptUI is a persistent UI that was created.
type keptUI struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Expires is when EMR deletes the cluster's history; nil while the cluster runs.
	Expires *time.Time `json:"expires,omitempty"`
}

// login creates the cluster's UI, or finds the existing one, and waits until it is ready.
// Each call of the returned Login requests a new URL from EMR.
func (u *uis) login(ctx context.Context, arn string, expires *time.Time) (history.Login, error) {
	id, err := u.id(ctx, arn, expires)
	if err != nil {
		return nil, err
	}
	if err := u.waitAttached(ctx, id); err != nil {
		if err := u.forget(ctx, arn, err); err != nil {
			return nil, err
		}
		if id, err = u.id(ctx, arn, expires); err != nil {
			return nil, err
		}
		if err := u.waitAttached(ctx, id); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (string, error) { return u.url(ctx, id) }, nil
}

// errEnded means that a UI will not become ready any more.
var errEnded = errors.New("the UI has ended")

// forget drops the id of a UI if err says that EMR no longer knows it, or that it has
// ended. Otherwise it returns err.
func (u *uis) forget(ctx context.Context, arn string, err error) error {
	var invalid *types.InvalidRequestException
	if !errors.As(err, &invalid) && !errors.Is(err, errEnded) {
		return err
	}
	return u.update(ctx, func(known map[string]keptUI) bool {
		_, there := known[arn]
		delete(known, arn)
		return there
	})
}

// id returns the id of the cluster's UI, which it creates if there is none.
func (u *uis) id(ctx context.Context, arn string, expires *time.Time) (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known, _, err := u.load(ctx)
	if err != nil {
		return "", err
	}
	if kept, ok := known[arn]; ok {
		if expires == nil || kept.Expires != nil {
			return kept.ID, nil
		}
		kept.Expires = expires // the cluster has ended since
		return kept.ID, u.put(ctx, arn, kept)
	}
	if used := countActive(known, arn, time.Now()); used >= u.limit {
		return "", &Obstacle{
			Reason: fmt.Sprintf("%d persistent UIs are in use, and max_persistent_uis is %d", used, u.limit),
			Remedy: fmt.Sprintf("wait until histories expire (%d days after their cluster's end), "+
				"or have EMR's quota raised and raise the option", historyDays),
			Passing: true,
		}
	}
	out, err := u.emr.CreatePersistentAppUI(ctx, &emr.CreatePersistentAppUIInput{TargetResourceArn: &arn, ProfilerType: types.ProfilerTypeShs})
	if err != nil {
		return "", fmt.Errorf("create a persistent UI: %w", err)
	}
	created := keptUI{ID: aws.ToString(out.PersistentAppUIId), Created: time.Now().UTC().Truncate(time.Second), Expires: expires}
	return created.ID, u.put(context.WithoutCancel(ctx), arn, created) // the id must not be lost
}

func (u *uis) put(ctx context.Context, arn string, kept keptUI) error {
	return u.update(ctx, func(known map[string]keptUI) bool {
		known[arn] = kept
		return true
	})
}

// countActive counts the UIs in use in a cluster's account and region.
func countActive(known map[string]keptUI, arn string, now time.Time) (n int) {
	own, _ := ParseClusterARN(arn)
	for other, kept := range known {
		parsed, err := ParseClusterARN(other)
		if err == nil && parsed.Account == own.Account && parsed.Region == own.Region && !kept.expired(now) {
			n++
		}
	}
	return n
}

func (k keptUI) expired(now time.Time) bool { return k.Expires != nil && now.After(*k.Expires) }

// States of a persistent UI, which EMR's API does not enumerate.
const (
	uiStarting = "STARTING"
	uiAttached = "ATTACHED"
)

// pollOptions says how often to poll EMR until a UI is ready.
func (u *uis) pollOptions() poll.Options {
	return poll.Options{Interval: time.Second, MaxInterval: 10 * time.Second, Timeout: u.timeout}
}

// waitAttached waits until a UI is ready.
func (u *uis) waitAttached(ctx context.Context, id string) error {
	err := poll.Until(ctx, u.pollOptions(), func(ctx context.Context) error {
		out, err := u.emr.DescribePersistentAppUI(ctx, &emr.DescribePersistentAppUIInput{PersistentAppUIId: &id})
		if err != nil {
			return poll.Permanent(fmt.Errorf("describe the persistent UI %s: %w", id, err))
		}
		switch state := aws.ToString(out.PersistentAppUI.PersistentAppUIStatus); state {
		case uiAttached:
			return nil
		case uiStarting, "":
			return fmt.Errorf("status %q", state)
		default:
			return poll.Permanent(fmt.Errorf("%w: status %s: %s", errEnded, state, aws.ToString(out.PersistentAppUI.LastStateChangeReason)))
		}
	})
	if err != nil {
		return fmt.Errorf("persistent UI %s is not ready: %w", id, err)
	}
	return nil
}

// url returns a new single-use presigned URL of a persistent UI. It polls until EMR
// reports that the URL is ready.
func (u *uis) url(ctx context.Context, id string) (url string, err error) {
	err = poll.Until(ctx, u.pollOptions(), func(ctx context.Context) error {
		out, err := u.emr.GetPersistentAppUIPresignedURL(ctx, &emr.GetPersistentAppUIPresignedURLInput{
			PersistentAppUIId: &id, PersistentAppUIType: types.PersistentAppUITypeShs,
		})
		if err != nil {
			return poll.Permanent(err)
		}
		if url = aws.ToString(out.PresignedURL); url == "" || out.PresignedURLReady != nil && !*out.PresignedURLReady {
			return errors.New("presigned URL is not ready yet")
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("get a presigned URL of the persistent UI %s: %w", id, err)
	}
	return url, nil
}

// load returns the known UIs by cluster ARN, and the content of the object.
func (u *uis) load(ctx context.Context) (known map[string]keptUI, raw []byte, err error) {
	known = map[string]keptUI{}
	body, err := u.store.Get(ctx, u.key)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil, nil
	}
	if err == nil {
		defer body.Close()
		if raw, err = io.ReadAll(body); err == nil {
			err = json.Unmarshal(raw, &known)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the ids of persistent UIs: %w", err)
	}
	return known, raw, nil
}

// update changes the known UIs atomically, even if other processes update them
// concurrently, and drops expired ones. change returns false if there is nothing to change.
func (u *uis) update(ctx context.Context, change func(map[string]keptUI) bool) error {
	for {
		known, old, err := u.load(ctx)
		if err != nil || !change(known) {
			return err
		}
		maps.DeleteFunc(known, func(_ string, kept keptUI) bool { return kept.expired(time.Now()) })
		content, err := json.MarshalIndent(known, "", "  ")
		if err == nil {
			err = u.store.Swap(ctx, u.key, old, append(bytes.TrimSpace(content), '\n'))
		}
		if errors.Is(err, lake.ErrChanged) {
			continue
		}
		if err != nil {
			return fmt.Errorf("store the ids of persistent UIs: %w", err)
		}
		return nil
	}
}
