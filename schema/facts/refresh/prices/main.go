// Command prices rewrites prices.json of package facts from two Go modules that carry
// prices of AWS's: `make facts`. It keeps the types of instances.json. It changes nothing
// if a module cannot be had.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

func main() {
	if err := run(context.Background(), "../../prices.json"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run rewrites the file, and says whether that changed it.
func run(ctx context.Context, path string) error {
	recent, err := readKarpenter(ctx)
	if err != nil {
		return err
	}
	all, err := readInstancesInfo(ctx)
	if err != nil {
		return err
	}
	data, err := render(merge(facts.Instances().Types, recent, all))
	if err != nil {
		return err
	}
	old, _ := os.ReadFile(path) // a file that is missing is new
	state := "rewritten"
	if bytes.Equal(old, data) {
		state = "unchanged"
	} else if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write prices: %w", err)
	}
	fmt.Printf("schema/facts/prices.json: %s\n", state)
	return nil
}

// render writes one line for each source and each type, so that a refresh shows what
// changed.
func render(file facts.Prices) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("{\n\"sources\": [\n")
	if err := renderLines(&out, file.Sources); err != nil {
		return nil, err
	}
	fmt.Fprintf(&out, "],\n\"refresh\": %q,\n\"spot\": %d,\n\"types\": [\n", file.Refresh, file.Spot)
	if err := renderLines(&out, file.Types); err != nil {
		return nil, err
	}
	out.WriteString("]\n}\n")
	return out.Bytes(), nil
}

func renderLines[T any](out *bytes.Buffer, entries []T) error {
	for i, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("render prices: %w", err)
		}
		out.Write(line)
		if i < len(entries)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	return nil
}
