package calibration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Keep writes an event log without what only tells where it ran: paths below the folder of the
// run's state, and of the environment all but the properties that say how Spark runs.
func Keep(path string, log []byte, state string) error {
	var kept bytes.Buffer
	for line := range bytes.Lines(log) {
		line = bytes.ReplaceAll(line, []byte(state), []byte("/state"))
		if bytes.HasPrefix(line, []byte(`{"Event":"SparkListenerEnvironmentUpdate"`)) {
			var err error
			if line, err = environment(line); err != nil {
				return fmt.Errorf("keep %s: %w", path, err)
			}
		}
		kept.Write(line)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return fmt.Errorf("keep %s: %w", path, err)
	}
	return os.WriteFile(path, encoder.EncodeAll(kept.Bytes(), nil), 0o644)
}

// machine are the prefixes of properties with paths, options and addresses of a machine.
func machine() []string {
	return []string{
		"spark.executorEnv", "spark.yarn.appMasterEnv", "spark.yarn.jars", "spark.yarn.dist", "spark.yarn.secondary", "spark.org.apache",
		"spark.driver.extra", "spark.driver.default", "spark.driver.host", "spark.driver.port", "spark.driver.appUIAddress",
		"spark.executor.extra", "spark.executor.default", "spark.yarn.am.extra", "spark.hadoop.fs.s3a.a", "spark.hadoop.fs.s3a.secret",
		"spark.eventLog", "spark.history", "spark.plugins", "spark.suite", "spark.repl", "spark.yarn.historyServer",
	}
}

func environment(line []byte) ([]byte, error) {
	var event struct {
		Event      string
		Properties map[string]string `json:"Spark Properties"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return nil, err
	}
	maps.DeleteFunc(event.Properties, func(name, _ string) bool {
		for _, prefix := range machine() {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	})
	line, err := json.Marshal(event)
	return append(line, '\n'), err
}
