package emrapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	recordSuffix  = ".json"
	partialSuffix = ".partial"
)

// load reads every file of a folder with a function, and removes the partial files that
// a crash left. what names the files in errors.
func load(dir, what string, read func(path string, data []byte) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read %s: %w", what, err)
	}
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasSuffix(path, partialSuffix):
			errs = append(errs, os.Remove(path))
		case strings.HasSuffix(path, recordSuffix):
			data, err := os.ReadFile(path)
			if err == nil {
				err = read(path, data)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// loadRecords reads and validates every record of a folder, by cluster id.
func loadRecords(dir string) (map[string]*record, error) {
	records := map[string]*record{}
	err := load(dir, "clusters", func(path string, data []byte) error {
		read := &record{}
		if err := json.Unmarshal(data, read); err != nil {
			return fmt.Errorf("%s: not a cluster record: %w; remove the file to forget the cluster", path, err)
		}
		if err := read.validate(); err != nil {
			return fmt.Errorf("%s: %w; remove the file to forget the cluster", path, err)
		}
		id := aws.ToString(read.Cluster.Id)
		if name := id + recordSuffix; name != filepath.Base(path) {
			return fmt.Errorf("%s: this cluster's record must be named %s; rename or remove the file", path, name)
		}
		records[id] = read
		return nil
	})
	return records, err
}

// saveRecord writes a cluster's record.
func saveRecord(dir string, r *record) error {
	if err := saveJSON(dir, aws.ToString(r.Cluster.Id), r); err != nil {
		return fmt.Errorf("write cluster: %w", err)
	}
	return nil
}

// saveJSON writes a file under another name, then renames it, so that a crash at any
// point leaves either the old or the new one.
func saveJSON(dir, name string, content any) error {
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, name+".*"+partialSuffix)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name+recordSuffix))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
