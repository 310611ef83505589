package workloadconfig

import (
	"path"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Configuration files of the stores that keep their blocks in S3.
const (
	TempoFile     = "tempo.yaml"
	PyroscopeFile = "pyroscope.yaml"
)

// Tempo configures the trace store: blocks only in S3 under
// platform.PrefixTempo, until retention; the write-ahead log in DataDir.
func Tempo(retention time.Duration) (Config, error) {
	return s3Store(TempoFile, retention, platform.PrefixTempo, map[string]any{
		"http": int(platform.Tempo), "grpc": int(platform.TempoGRPC), "gossip": int(platform.TempoGossip),
		"otlpHTTP": listen(platform.TempoOTLPHTTP),
	})
}

// Pyroscope configures the profile store: blocks in S3 under
// platform.PrefixPyroscope, until retention; only those not yet uploaded in
// DataDir.
func Pyroscope(retention time.Duration) (Config, error) {
	return s3Store(PyroscopeFile, retention, platform.PrefixPyroscope, map[string]any{
		"http": int(platform.Pyroscope), "grpc": int(platform.PyroscopeGRPC),
	})
}

func s3Store(file string, retention time.Duration, prefix platform.Prefix, data map[string]any) (Config, error) {
	for key, value := range map[string]any{
		"data": DataDir, "prefix": prefix.Name(), "retention": hours(retention),
		"bucket": platform.ConfigBucket, "region": platform.ConfigRegion, "endpoint": platform.ConfigS3Endpoint,
		"insecure": platform.ConfigS3Insecure, "pathStyle": platform.ConfigS3PathStyle,
	} {
		data[key] = value
	}
	body, err := render(file, data)
	if err != nil {
		return Config{}, err
	}
	return Config{
		Args:  []string{"-config.file=" + path.Join(ConfigDir, file), "-config.expand-env=true"},
		Files: map[string]string{file: body},
	}, nil
}
