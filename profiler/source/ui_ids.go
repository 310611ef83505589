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
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

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

// keptUI is a persistent UI that was created.
type keptUI struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Expires is when EMR deletes the cluster's history; nil while the cluster runs.
	Expires *time.Time `json:"expires,omitempty"`
	// RuntimeRoles reports that steps of the cluster have IAM roles of their own. The UI then
	// shows only applications of the caller's role, unless it may see all.
	RuntimeRoles bool `json:"runtime_roles,omitempty"`
}

func (k keptUI) expired(now time.Time) bool { return k.Expires != nil && now.After(*k.Expires) }

// errEnded means that a UI will not become ready any more.
var errEnded = errors.New("the UI has ended")

// unknownText matches EMR's messages about an id that it does not know. The error has no code of
// its own.
var unknownText = regexp.MustCompile(`(?i)not valid|invalid|not found|(does not|doesn't) exist`)

// forget drops the id of a UI if err says that EMR no longer knows it, or that it has
// ended. Otherwise it returns err.
func (u *uis) forget(ctx context.Context, arn string, err error) error {
	var invalid *types.InvalidRequestException
	unknown := errors.As(err, &invalid) && unknownText.MatchString(invalid.ErrorMessage())
	if !unknown && !errors.Is(err, errEnded) {
		return err
	}
	return u.update(ctx, func(known map[string]keptUI) bool {
		_, there := known[arn]
		delete(known, arn)
		return there
	})
}

// ui returns the cluster's UI, which it creates if there is none.
func (u *uis) ui(ctx context.Context, cluster uiTarget) (keptUI, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known, _, err := u.load(ctx)
	if err != nil {
		return keptUI{}, err
	}
	if kept, ok := known[cluster.arn]; ok {
		if cluster.expires == nil || kept.Expires != nil {
			return kept, nil
		}
		kept.Expires = cluster.expires // the cluster has ended since
		return kept, u.put(ctx, cluster.arn, kept)
	}
	if err := u.available(ctx, cluster.arn, known); err != nil {
		return keptUI{}, err
	}
	created, err := u.create(ctx, cluster)
	if err != nil {
		return keptUI{}, err
	}
	return created, u.put(context.WithoutCancel(ctx), cluster.arn, created) // the id must not be lost
}

// quotaRemedy is for an account that has as many UIs as it may.
var quotaRemedy = fmt.Sprintf("wait until histories expire (%d days after their cluster's end), "+
	"or have EMR's quota raised and raise max_persistent_uis", historyDays)

// available returns an Obstacle if no UI may be created for a cluster.
func (u *uis) available(ctx context.Context, arn string, known map[string]keptUI) error {
	if u.full != nil {
		return u.full
	}
	used := active(known, arn, u.now())
	if len(used) >= u.limit && !u.expired {
		if err := u.expire(ctx, used); err != nil {
			return err
		}
		u.expired = true
		known, _, err := u.load(ctx)
		if err != nil {
			return err
		}
		used = active(known, arn, u.now())
	}
	if len(used) < u.limit {
		return nil
	}
	return &Obstacle{
		Reason: fmt.Sprintf("%d persistent UIs are in use, and max_persistent_uis is %d", len(used), u.limit), Remedy: quotaRemedy, Passing: true,
	}
}

// active returns the UIs in use in a cluster's account and region, by cluster ARN.
func active(known map[string]keptUI, arn string, now time.Time) map[string]keptUI {
	own, _ := ParseClusterARN(arn)
	found := map[string]keptUI{}
	for other, kept := range known {
		parsed, err := ParseClusterARN(other)
		if err == nil && parsed.Account == own.Account && parsed.Region == own.Region && !kept.expired(now) {
			found[other] = kept
		}
	}
	return found
}

// expire sets the expiry of UIs whose cluster was running when it was last opened and has ended
// since: runs with other filters do not open such a cluster again. A UI that is younger than
// historyDays is skipped. Its cluster ran when it was created, so the history cannot have expired.
func (u *uis) expire(ctx context.Context, used map[string]keptUI) error {
	ended := map[string]*time.Time{}
	for arn, kept := range used {
		if kept.Expires != nil || u.now().Sub(kept.Created) < historyDays*24*time.Hour {
			continue
		}
		expires, err := u.expiry(ctx, arn)
		if err != nil {
			return err
		}
		if expires != nil {
			ended[arn] = expires
		}
	}
	return u.update(ctx, func(known map[string]keptUI) bool {
		for arn, expires := range ended {
			kept := known[arn]
			kept.Expires = expires
			known[arn] = kept
		}
		return len(ended) > 0
	})
}

// expiry returns when a cluster's history expires, nil if it runs. EMR forgets clusters two
// months after their end.
func (u *uis) expiry(ctx context.Context, arn string) (*time.Time, error) {
	parsed, err := ParseClusterARN(arn)
	if err != nil {
		return nil, err
	}
	out, err := u.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &parsed.ID})
	var unknown *types.InvalidRequestException
	switch {
	case errors.As(err, &unknown):
		return &time.Time{}, nil
	case err != nil:
		return nil, fmt.Errorf("look up when the history of cluster %s expires: %w", parsed.ID, err)
	}
	return expiryOf(endOf(*out.Cluster)), nil
}

// expiryOf returns when EMR deletes the history of a cluster that ended; nil while it runs.
func expiryOf(ended time.Time) *time.Time {
	if ended.IsZero() {
		return nil
	}
	return aws.Time(ended.Add(historyDays * 24 * time.Hour).UTC())
}

func (u *uis) put(ctx context.Context, arn string, kept keptUI) error {
	return u.update(ctx, func(known map[string]keptUI) bool {
		known[arn] = kept
		return true
	})
}

// load returns the known UIs by cluster ARN, and the content of the object.
func (u *uis) load(ctx context.Context) (known map[string]keptUI, raw []byte, err error) {
	known = map[string]keptUI{}
	if raw, err = load(ctx, u.store, u.key, &known); err != nil {
		return nil, nil, fmt.Errorf("read the ids of persistent UIs: %w", err)
	}
	return known, raw, nil
}

// load decodes an object's JSON and returns its content, nil if there is no such object.
func load(ctx context.Context, store Store, key string, into any) ([]byte, error) {
	body, err := store.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return raw, json.Unmarshal(raw, into)
}

// update changes the known UIs atomically, even if other processes update them
// concurrently, and drops expired ones. change returns false if there is nothing to change.
func (u *uis) update(ctx context.Context, change func(map[string]keptUI) bool) error {
	for {
		known, old, err := u.load(ctx)
		if err != nil || !change(known) {
			return err
		}
		maps.DeleteFunc(known, func(_ string, kept keptUI) bool { return kept.expired(u.now()) })
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
