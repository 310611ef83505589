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

// uiKey is the object with the ids of persistent UIs, beside the lake's manifests: EMR
// has no call that lists or deletes them, and 200 at a time are allowed.
const uiKey = "_manifest/persistent_uis.json"

// Store keeps the ids of persistent UIs; lake.Store is one.
type Store interface {
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Swap(ctx context.Context, key string, old, content []byte) error
}

// uis opens persistent UIs, one per cluster.
type uis struct {
	emr     *emr.Client
	store   Store
	key     string
	most    int
	timeout time.Duration

	mu sync.Mutex // held while one is created
}

// keptUI is a persistent UI that was created.
type keptUI struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Expires is when EMR drops the history of its cluster; nil while that runs.
	Expires *time.Time `json:"expires,omitempty"`
}

// login creates the cluster's UI, or finds the one that was created before, and waits
// until it can be opened. Each call of the login that it returns asks EMR for a new URL.
func (u *uis) login(ctx context.Context, arn string, expires *time.Time) (history.Login, error) {
	id, err := u.id(ctx, arn, expires)
	if err != nil {
		return nil, err
	}
	if err := u.attached(ctx, id); err != nil {
		if forgotten := u.forget(ctx, arn, err); forgotten != nil {
			return nil, forgotten
		}
		if id, err = u.id(ctx, arn, expires); err != nil {
			return nil, err
		}
		if err := u.attached(ctx, id); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (string, error) { return u.url(ctx, id) }, nil
}

// forget drops an id that EMR does not know any more. It returns any other error.
func (u *uis) forget(ctx context.Context, arn string, err error) error {
	var invalid *types.InvalidRequestException
	if !errors.As(err, &invalid) {
		return err
	}
	return u.update(ctx, func(known map[string]keptUI) bool {
		_, there := known[arn]
		delete(known, arn)
		return there
	})
}

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
	if used := active(known, arn, time.Now()); used >= u.most {
		return "", &Obstacle{
			Reason: fmt.Sprintf("%d persistent UIs are in use, and max_persistent_uis is %d", used, u.most),
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

// active counts the UIs of a cluster's account and region.
func active(known map[string]keptUI, arn string, now time.Time) (n int) {
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

// pace is how often EMR is asked whether a UI is ready.
func (u *uis) pace() poll.Options {
	return poll.Options{Interval: time.Second, MaxInterval: 10 * time.Second, Timeout: u.timeout}
}

// attached waits until a UI can be opened.
func (u *uis) attached(ctx context.Context, id string) error {
	err := poll.Until(ctx, u.pace(), func(ctx context.Context) error {
		out, err := u.emr.DescribePersistentAppUI(ctx, &emr.DescribePersistentAppUIInput{PersistentAppUIId: &id})
		if err != nil {
			return poll.Permanent(fmt.Errorf("describe the persistent UI %s: %w", id, err))
		}
		switch state := aws.ToString(out.PersistentAppUI.PersistentAppUIStatus); state {
		case uiAttached:
			return nil
		case uiStarting, "":
			return fmt.Errorf("its status is %q", state)
		default:
			return poll.Permanent(fmt.Errorf("its status is %s: %s", state, aws.ToString(out.PersistentAppUI.LastStateChangeReason)))
		}
	})
	if err != nil {
		return fmt.Errorf("persistent UI %s is not ready: %w", id, err)
	}
	return nil
}

// url returns a new URL that opens a UI once.
func (u *uis) url(ctx context.Context, id string) (url string, err error) {
	err = poll.Until(ctx, u.pace(), func(ctx context.Context) error {
		out, err := u.emr.GetPersistentAppUIPresignedURL(ctx, &emr.GetPersistentAppUIPresignedURLInput{
			PersistentAppUIId: &id, PersistentAppUIType: types.PersistentAppUITypeShs,
		})
		if err != nil {
			return poll.Permanent(err)
		}
		if url = aws.ToString(out.PresignedURL); url == "" || out.PresignedURLReady != nil && !*out.PresignedURLReady {
			return errors.New("EMR says that its URL is not ready")
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("open the persistent UI %s: %w", id, err)
	}
	return url, nil
}

// load reads the known UIs by the ARNs of their clusters.
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

// update changes the known UIs, whoever else does so at the same time. Expired ones are
// dropped with it. change returns false if nothing is to do.
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
			return fmt.Errorf("keep the ids of persistent UIs: %w", err)
		}
		return nil
	}
}
