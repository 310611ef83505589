package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// writeOutputs is the command that writes the file of --outputs.
const writeOutputs = "pulumi stack output " + outputs.Observatory + " --json"

// readOutputs reads a stack's outputs from a file, or for the name "-" from stdin: the
// versioned object, alone or among all outputs as `pulumi stack output --json` prints
// them.
func readOutputs(file string, stdin io.Reader) (outputs.Outputs, error) {
	out, err := decodeOutputs(file, stdin)
	if err != nil {
		return out, fmt.Errorf("--outputs %s: %w; write it with `%s`", file, err, writeOutputs)
	}
	return out, nil
}

func decodeOutputs(file string, stdin io.Reader) (outputs.Outputs, error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return outputs.Outputs{}, err
		}
		defer opened.Close()
		stdin = opened
	}
	var value any
	if err := json.NewDecoder(stdin).Decode(&value); err != nil {
		return outputs.Outputs{}, fmt.Errorf("decode: %w", err)
	}
	if all, isObject := value.(map[string]any); isObject && all[outputs.Observatory] != nil {
		value = all[outputs.Observatory]
	}
	return outputs.FromObject(value)
}
