package emrapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Statuses of a persistent UI. The API names none; clients have seen these two.
const (
	uiStarting = "STARTING"
	uiAttached = "ATTACHED"
)

// persistentUI is a persistent UI and the cluster whose history it shows.
type persistentUI struct {
	ClusterID string
	UI        types.PersistentAppUI
}

func (u persistentUI) id() string { return aws.ToString(u.UI.PersistentAppUIId) }

// persistentUIDir is where the Store keeps persistent UIs, a file for each.
func persistentUIDir(dir string) string { return filepath.Join(dir, "persistent-uis") }

// loadPersistentUIs reads every persistent UI by id.
func loadPersistentUIs(dir string) (map[string]persistentUI, error) {
	uis := map[string]persistentUI{}
	err := load(persistentUIDir(dir), "persistent UIs", func(path string, data []byte) error {
		var read persistentUI
		if err := json.Unmarshal(data, &read); err != nil {
			return fmt.Errorf("%s: not a persistent UI: %w; remove the file to forget it", path, err)
		}
		uis[read.id()] = read
		return nil
	})
	return uis, err
}

// addPersistentUI adds a UI in STARTING, unless admit refuses it, which is given all
// that exist.
func (s *Store) addPersistentUI(clusterID string, ui types.PersistentAppUI, admit func(all map[string]persistentUI) error) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := admit(s.uis); err != nil {
		return "", err
	}
	created := now()
	ui.PersistentAppUIId = aws.String(NewID("p"))
	ui.AuthorId, ui.CreationTime, ui.LastModifiedTime = aws.String(s.Account.ID), created, created
	ui.PersistentAppUIStatus = aws.String(uiStarting)
	added := persistentUI{clusterID, ui}
	return added.id(), s.putPersistentUI(added)
}

// setPersistentUIStatus sets a UI's status.
func (s *Store) setPersistentUIStatus(id, status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ui, ok := s.uis[id]
	if !ok {
		return fmt.Errorf("persistent UI %q: %w", id, ErrNotFound)
	}
	ui.UI.PersistentAppUIStatus, ui.UI.LastModifiedTime = aws.String(status), now()
	return s.putPersistentUI(ui)
}

// putPersistentUI writes and stores a UI. The caller holds the lock.
func (s *Store) putPersistentUI(ui persistentUI) error {
	dir := persistentUIDir(s.dir)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = saveJSON(dir, ui.id(), ui)
	}
	if err != nil {
		return fmt.Errorf("write persistent UI: %w", err)
	}
	s.uis[ui.id()] = ui
	s.announce()
	return nil
}

// persistentUI returns a UI.
func (s *Store) persistentUI(id string) (persistentUI, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ui, ok := s.uis[id]
	if !ok {
		return ui, fmt.Errorf("persistent UI %q: %w", id, ErrNotFound)
	}
	return ui, nil
}

// startingUIs lists the UIs that are not attached yet.
func (s *Store) startingUIs() []persistentUI {
	s.mu.Lock()
	defer s.mu.Unlock()
	var starting []persistentUI
	for _, ui := range s.uis {
		if aws.ToString(ui.UI.PersistentAppUIStatus) == uiStarting {
			starting = append(starting, ui)
		}
	}
	return starting
}
