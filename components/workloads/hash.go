package workloads

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
)

// configHashes returns hashes of what the pod reads at startup. They are hashed
// into the pod template's annotation: a changed one replaces the pod.
func (p podValues) configHashes(environment pulumi.StringInput, files pulumi.StringMap) pulumi.StringMap {
	hashes := pulumi.StringMap{"environment": environment}
	if len(files) > 0 {
		hashes["files"] = hashOf(files)
	}
	var more []pulumi.StringInput
	if p.OwnBinary != "" {
		more = append(more, p.binary.sha256)
	}
	for _, mounted := range p.config.SecretFiles {
		s := p.secrets[mounted.Secret]
		if s.restartOn != "" && slices.Contains(mounted.Keys, s.restartOn) {
			more = append(more, s.hash)
		}
	}
	// Do not rename these keys: they are hashed too, and a new name restarts every pod.
	for i, hash := range more {
		key := "more"
		if i > 0 {
			key = fmt.Sprintf("more%d", i+1)
		}
		hashes[key] = hash
	}
	return hashes
}

// secretNames returns the Secrets that a server reads.
func secretNames(c workloadconfig.Config) []string {
	var names []string
	for _, files := range c.SecretFiles {
		names = append(names, files.Secret)
	}
	for _, value := range c.SecretEnv {
		names = append(names, value.Secret)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hashOf returns a digest of a configuration's content.
func hashOf(data pulumi.StringMap) pulumi.StringOutput {
	names := slices.Sorted(maps.Keys(data))
	values := make([]pulumi.StringInput, len(names))
	for i, name := range names {
		values[i] = data[name]
	}
	return output.Join(values, func(known []string) (string, error) {
		content := map[string]string{}
		for i, name := range names {
			content[name] = known[i]
		}
		b, err := json.Marshal(content) // sorts the keys
		if err != nil {
			return "", fmt.Errorf("hash configuration: %w", err)
		}
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:]), nil
	})
}
