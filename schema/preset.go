package schema

import "github.com/emr-observatory/emr-observatory/schema/presets"

// Complete returns the raw keys and values of a cluster with those of the preset that it
// names below them. Without a preset, or with one that does not exist, which the rule of
// the key refuses, it returns the cluster's own.
func (c *Cluster) Complete(own map[string]any) map[string]any {
	name, _ := own["preset"].(string)
	preset, found := presets.Named(name)
	if !found {
		return own
	}
	release, given := own["releaseLabel"].(string)
	if !given {
		release = c.ReleaseLabel // the default
	}
	return preset.Complete(release, own)
}
