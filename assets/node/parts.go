package node

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Part is a node part's record and the function that configures it.
type Part struct {
	platform.NodePart
	Configure func() (PartConfig, error) // nil: there is nothing to configure
}

// PartConfig is what a part needs on a node besides its artifact.
type PartConfig struct {
	Files   []PartFile
	Folders []string // created for root alone
	Service *Service // nil: the part has no process of its own
}

// PartFile is a file with its content, which ends in a newline.
type PartFile struct {
	platform.NodeFile
	Content []byte
}

// Marker returns the delimiter of the file's here-document in the bootstrap action.
func (f PartFile) Marker() string {
	name, _, _ := strings.Cut(f.Staged, ".")
	return strings.ToUpper(name)
}

// Text returns the file's content.
func (f PartFile) Text() string { return string(f.Content) }

// Service is a part that systemd runs.
type Service struct {
	Unit   string        // its name; its file is one of PartConfig.Files
	Health platform.Port // where it answers over HTTP once it is up
}

// Parts returns the platform's node parts with the functions that configure them.
func Parts() []Part {
	functions := map[platform.NodeComponent]func() (PartConfig, error){
		platform.ComponentCollector: collectorPart,
	}
	var parts []Part
	for _, p := range platform.NodeParts() {
		parts = append(parts, Part{p, functions[p.Component]})
	}
	return parts
}

func collectorPart() (PartConfig, error) {
	config, err := CollectorConfig()
	if err != nil {
		return PartConfig{}, err
	}
	unit, err := CollectorUnit()
	if err != nil {
		return PartConfig{}, err
	}
	unitFile := platform.NodeUnitDir + "/" + platform.NodeCollectorUnit
	return PartConfig{
		Files: []PartFile{
			{platform.NodeFile{Staged: "collector.yaml", Path: platform.NodeCollectorConfig}, config},
			{platform.NodeFile{Staged: "unit", Path: unitFile}, unit},
		},
		Folders: []string{platform.NodeQueueDir},
		Service: &Service{Unit: platform.NodeCollectorUnit, Health: platform.CollectorHealth},
	}, nil
}

// config calls Configure; zero if the part has none.
func (p Part) config() (PartConfig, error) {
	if p.Configure == nil {
		return PartConfig{}, nil
	}
	c, err := p.Configure()
	if err != nil {
		return PartConfig{}, fmt.Errorf("configure %s: %w", p.Component, err)
	}
	return c, nil
}

func nodeParts(parts []Part) []platform.NodePart {
	list := make([]platform.NodePart, len(parts))
	for i, p := range parts {
		list[i] = p.NodePart
	}
	return list
}
