package node

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
)

//go:embed artifacts.lock.json
var lock []byte

//go:embed templates
var templates embed.FS

//go:embed _collector/*.go _collector/collector.mod _collector/collector.sum _collector/stanza
var collectorSources embed.FS

//go:embed launcher/pom.xml launcher/src/main/java
var launcherSources embed.FS

//go:embed spark-plugin/pom.xml spark-plugin/src/main/java
var pluginSources embed.FS

//go:embed connect/pom.xml connect/src/main/java
var connectSources embed.FS

// Lock returns the committed lock file of the artifacts (see package artifacts).
func Lock() []byte { return lock }

// CollectorSources returns the files of the node collector's Go module, by name.
// The OpenTelemetry Collector Builder generates them from _collector/manifest.yaml.
// The module files are stored as collector.mod and collector.sum because go:embed
// skips a folder with a go.mod. Folders are patches of modules (see package artifacts).
func CollectorSources() (map[string][]byte, error) {
	files, err := embeddedFiles(collectorSources, "_collector")
	if err != nil {
		return nil, err
	}
	for stored, name := range map[string]string{"collector.mod": "go.mod", "collector.sum": "go.sum"} {
		files[name] = files[stored]
		delete(files, stored)
	}
	return files, nil
}

// LauncherSources returns the files of the launcher's Maven module, which is the
// folder of this name.
func LauncherSources() (map[string][]byte, error) {
	return inFolder(launcherSources, LauncherModule)
}

// PluginSources returns the files of the Spark plugin's Maven module, and of the
// launcher's beside it, which it compiles against.
func PluginSources() (map[string][]byte, error) {
	files, err := inFolder(pluginSources, PluginModule)
	if err != nil {
		return nil, err
	}
	launcher, err := LauncherSources()
	maps.Copy(files, launcher)
	return files, err
}

// ConnectSources returns the files of the Maven module of Spark Connect's interceptor,
// and those of the modules that it compiles against.
func ConnectSources() (map[string][]byte, error) {
	files, err := inFolder(connectSources, ConnectModule)
	if err != nil {
		return nil, err
	}
	plugin, err := PluginSources()
	maps.Copy(files, plugin)
	return files, err
}

// Folders of the Maven modules among the sources.
const (
	LauncherModule = "launcher"
	PluginModule   = "spark-plugin"
	ConnectModule  = "connect"
)

// inFolder is embeddedFiles with the folder in the names.
func inFolder(tree embed.FS, folder string) (map[string][]byte, error) {
	files, err := embeddedFiles(tree, folder)
	placed := map[string][]byte{}
	for name, content := range files {
		placed[path.Join(folder, name)] = content
	}
	return placed, err
}

func embeddedFiles(tree embed.FS, root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(tree, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := tree.ReadFile(name)
		files[strings.TrimPrefix(path.Clean(name), root+"/")] = content
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read embedded %s: %w", root, err)
	}
	return files, nil
}
