package applications

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// Java is a JAVA_HOME whose command java has options of its own, and loads Spark's classes from an
// archive where there is one.
type Java struct {
	Home    string   // the JDK or JRE, as the JVMs see it
	OnHost  string   // the same, as this process sees it
	Options []string // of every JVM, before those of the command
	Spark   string   // SPARK_HOME, as class paths name it
	Archive string   // of Spark's jars, as the JVMs see it; it may appear later; "" is none
	// Behind are entries of class paths that may stand behind Spark's jars, besides folders of
	// configuration: they have no class of Spark's.
	Behind []string
}

//go:embed java.sh.tmpl
var javaScript string

var javaTemplate = template.Must(template.New("java").Parse(javaScript))

// Write writes the JAVA_HOME to a folder that is empty or missing. Everything but bin/java links to
// the JDK or JRE.
func (j Java) Write(home string) error {
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		return fmt.Errorf("write a JAVA_HOME: %w", err)
	}
	for _, folder := range []string{"", "bin"} {
		entries, err := os.ReadDir(filepath.Join(j.OnHost, folder))
		if err != nil {
			return fmt.Errorf("write a JAVA_HOME: %w", err)
		}
		for _, e := range entries {
			name := filepath.Join(folder, e.Name())
			if name == "bin" || name == "bin/java" {
				continue
			}
			if err := os.Symlink(filepath.Join(j.Home, name), filepath.Join(home, name)); err != nil {
				return fmt.Errorf("write a JAVA_HOME: %w", err)
			}
		}
	}
	script := struct {
		Java, Options, Jars, Archive string
		Behind                       []string
	}{quoted(filepath.Join(j.Home, "bin", "java")), "", quoted(sparkJars(j.Spark)), quoted(j.Archive), nil}
	for _, option := range j.Options {
		script.Options += " " + quoted(option)
	}
	for _, entry := range j.Behind {
		script.Behind = append(script.Behind, quoted(entry))
	}
	var text strings.Builder
	if err := javaTemplate.Execute(&text, script); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "bin", "java"), []byte(text.String()), 0o755)
}

// quoted returns a word of a shell's.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
