package changes

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// digest holds the fields used here of what `pulumi preview --json` prints
// (pulumi pkg/backend/display, PreviewDigest).
type digest struct {
	Config map[string]string `json:"config"`
	Steps  []struct {
		Op             apitype.OpType      `json:"op"`
		URN            string              `json:"urn"`
		OldState       *apitype.ResourceV3 `json:"oldState"`
		NewState       *apitype.ResourceV3 `json:"newState"`
		DiffReasons    []string            `json:"diffReasons"`
		ReplaceReasons []string            `json:"replaceReasons"`
		DetailedDiff   map[string]struct {
			Kind string `json:"kind"`
		} `json:"detailedDiff"`
	} `json:"steps"`
	Diagnostics []struct {
		Message  string `json:"message"`
		Severity string `json:"severity"`
	} `json:"diagnostics"`
}

// Digest is a plan and the configuration it was computed from. Secret
// configuration values are masked.
type Digest struct {
	Plan    Plan
	Config  map[string]string // full keys, emr-observatory:region
	Outputs map[string]any    // of the stack before the update; empty before the first
}

// rootStack is the type of the resource whose outputs are the stack's.
const rootStack = "pulumi:pulumi:Stack"

// FromDigest classifies the output of `pulumi preview --json`. If the preview
// failed, its error is returned along with the changes found before.
func FromDigest(r io.Reader) (Digest, error) {
	var d digest
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return Digest{}, fmt.Errorf("read preview: %w; make it with `pulumi preview --json`", err)
	}
	found := Digest{Config: d.Config}
	for _, s := range d.Steps {
		one := step{
			op: s.Op, urn: s.URN, keys: s.ReplaceReasons, differs: s.DiffReasons,
			old: stateOfResource(s.OldState), new: stateOfResource(s.NewState),
		}
		if s.OldState != nil && s.OldState.Type == rootStack {
			found.Outputs = s.OldState.Outputs
		}
		for _, r := range []*apitype.ResourceV3{s.OldState, s.NewState} {
			if r != nil {
				one.typ = string(r.Type)
			}
		}
		for path, diff := range s.DetailedDiff {
			one.note(path, diff.Kind)
		}
		found.Plan.add(one)
	}
	for _, line := range d.Diagnostics {
		if line.Severity == "error" {
			return found, fmt.Errorf("preview: %s", line.Message)
		}
	}
	return found, nil
}

func stateOfResource(r *apitype.ResourceV3) *state {
	if r == nil {
		return nil
	}
	return &state{id: string(r.ID), custom: r.Custom, protect: r.Protect, retain: r.RetainOnDelete, inputs: r.Inputs}
}
