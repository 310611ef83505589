// Command refresh rewrites the data files of package facts from what package
// registries have: `make facts`. It changes no file whose source cannot be had, and
// none that people copy from a page.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background(), "schema/facts"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run rewrites the files in a folder.
func run(ctx context.Context, folder string) error {
	temporary, err := os.MkdirTemp("", "facts-")
	if err != nil {
		return fmt.Errorf("make a folder for downloads: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	files := []struct {
		name  string
		fresh func(context.Context, string) ([]byte, error)
	}{{"instances.json", refreshInstances}, {"properties.json", refreshProperties}, {"sparksettings.json", refreshSettings}}
	for _, f := range files {
		data, err := f.fresh(ctx, temporary)
		if err != nil {
			return err
		}
		if err := replace(filepath.Join(folder, f.name), data); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file, and says whether that changed it.
func replace(path string, data []byte) error {
	old, _ := os.ReadFile(path) // a file that is missing is new
	state := "rewritten"
	if bytes.Equal(old, data) {
		state = "unchanged"
	} else if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	fmt.Printf("%s: %s\n", path, state)
	return nil
}

// render writes a struct as JSON with one line for each key, and in lists of objects
// one for each entry, so that a refresh shows what changed. A long list inside an
// entry has a line for each value.
func render(file any) ([]byte, error) {
	compact, err := encode(file)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(compact))
	if _, err := decoder.Token(); err != nil {
		return nil, fmt.Errorf("render facts: %w", err)
	}
	var out bytes.Buffer
	separator := "{\n"
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("render facts: %w", err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("render facts: %w", err)
		}
		fmt.Fprintf(&out, "%s%q: %s", separator, key, lines(value))
		separator = ",\n"
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// lines puts each object of a list on a line of its own.
func lines(value json.RawMessage) string {
	var entries []json.RawMessage
	if json.Unmarshal(value, &entries) != nil || len(entries) == 0 || entries[0][0] != '{' {
		return string(value)
	}
	const long = 10_000 // bytes
	var out [][]byte
	for _, e := range entries {
		if len(e) > long {
			e = bytes.ReplaceAll(e, []byte(`","`), []byte("\",\n\""))
		}
		out = append(out, e)
	}
	return "[\n" + string(bytes.Join(out, []byte(",\n"))) + "\n]"
}

// encode is json.Marshal without escaping the characters that HTML reserves.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("render facts: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
