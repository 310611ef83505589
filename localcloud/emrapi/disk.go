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

// loadRecords reads every record of a folder by cluster id. It removes the partial
// files that a crash left.
func loadRecords(dir string) (map[string]*record, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read clusters: %w", err)
	}
	records := map[string]*record{}
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasSuffix(path, partialSuffix):
			errs = append(errs, os.Remove(path))
		case strings.HasSuffix(path, recordSuffix):
			read, err := loadRecord(path)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			records[aws.ToString(read.Cluster.Id)] = read
		}
	}
	return records, errors.Join(errs...)
}

// loadRecord reads and validates one record.
func loadRecord(path string) (*record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read cluster: %w", err)
	}
	read := &record{}
	if err := json.Unmarshal(data, read); err != nil {
		return nil, fmt.Errorf("%s: not a cluster record: %w; remove the file to forget the cluster", path, err)
	}
	if err := read.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to forget the cluster", path, err)
	}
	if name := aws.ToString(read.Cluster.Id) + recordSuffix; name != filepath.Base(path) {
		return nil, fmt.Errorf("%s: this cluster's record must be named %s; rename or remove the file", path, name)
	}
	return read, nil
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
