package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
)

// tagsKey is the object with what is known of the tags of clusters, next to the lake's
// manifests.
const tagsKey = "_manifest/cluster_tags.json"

// mostLookups is how many clusters one Discover describes for their tags. An account may list
// thousands, and the quota is the account's: at half a request per second this takes five
// minutes.
const mostLookups = 150

// keptTags says of ended clusters whether they have the tags. EMR changes the tags of an ended
// cluster no more (EMR Management Guide, "Restrictions that apply to tagging resources in
// Amazon EMR"), so that each is asked for once.
type keptTags struct {
	Tags     map[string]string `json:"tags"`
	Clusters map[string]bool   `json:"clusters"` // by id
}

// tagged returns those of the clusters, the newest first, that have the tags of the options.
// EMR's list is without tags, so that the clusters are described: those that run in each
// Discover, the newest mostLookups of all.
func (e *EMR) tagged(ctx context.Context, found []Listed) ([]Listed, error) {
	if len(e.o.Tags) == 0 {
		return found, nil
	}
	known, old, err := e.loadTags(ctx)
	if err != nil {
		return nil, err
	}
	next := keptTags{e.o.Tags, map[string]bool{}} // of what EMR still lists
	var own []Listed
	lookups, postponed := 0, 0
	for _, c := range found {
		has, is := known.Clusters[c.ID.ClusterID]
		if !is && (lookups == mostLookups || err != nil) {
			postponed++
			continue
		}
		if !is {
			lookups++
			if has, err = e.hasTags(ctx, c.ID.ClusterID); err != nil {
				continue // what is known already is kept
			}
		}
		if !c.Ended.IsZero() {
			next.Clusters[c.ID.ClusterID] = has
		}
		if has {
			own = append(own, c)
		}
	}
	if failed := errors.Join(err, e.keepTags(context.WithoutCancel(ctx), old, next)); failed != nil {
		return nil, failed
	}
	if postponed > 0 && e.o.Postponed != nil {
		e.o.Postponed(postponed)
	}
	return own, nil
}

// hasTags asks EMR whether a cluster has the tags. One that EMR has forgotten since it was listed
// has not.
func (e *EMR) hasTags(ctx context.Context, id string) (bool, error) {
	out, err := e.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &id})
	var forgotten *types.InvalidRequestException
	switch {
	case errors.As(err, &forgotten):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up the tags of the EMR cluster %s: %w", id, err)
	}
	return hasTags(out.Cluster, e.o.Tags), nil
}

// hasTags reports whether a cluster has tags with these values.
func hasTags(c *types.Cluster, tags map[string]string) bool {
	has := map[string]string{}
	for _, tag := range c.Tags {
		has[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return len(platform.MissingTags(has, tags)) == 0
}

// loadTags returns what is known, which is nothing if it is about other tags, and the content
// of the object.
func (e *EMR) loadTags(ctx context.Context) (known keptTags, raw []byte, err error) {
	if raw, err = load(ctx, e.o.UIs, e.o.UIPrefix+tagsKey, &known); err != nil {
		return keptTags{}, nil, fmt.Errorf("read which clusters have the tags: %w", err)
	}
	if !maps.Equal(known.Tags, e.o.Tags) {
		known = keptTags{}
	}
	return known, raw, nil
}

// keepTags stores what is known. What another process has stored meanwhile stays: it asked EMR
// the same.
func (e *EMR) keepTags(ctx context.Context, old []byte, known keptTags) error {
	content, err := json.Marshal(known)
	if err == nil && !bytes.Equal(content, old) {
		err = e.o.UIs.Swap(ctx, e.o.UIPrefix+tagsKey, old, content)
	}
	if err != nil && !errors.Is(err, lake.ErrChanged) {
		return fmt.Errorf("store which clusters have the tags: %w", err)
	}
	return nil
}
