package workloadconfig

import (
	"maps"
	"path"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Configuration files of the stores that keep their blocks in S3.
const (
	TempoFile     = "tempo.yaml"
	PyroscopeFile = "pyroscope.yaml"
)

// Tempo configures the trace store: blocks in S3 below platform.PrefixTempo until
// the retention ends, and only the write-ahead log in DataDir. Its container runs
// the repair of that log first (package tempowal).
func Tempo(r platform.WorkloadRecord, s Settings) (Config, error) {
	wal := path.Join(DataDir, "wal")
	c, err := s3Store(TempoFile, s.TempoRetention, platform.PrefixTempo, map[string]any{
		"http": int(r.EndpointPort()), "grpc": int(platform.TempoGRPC), "gossip": int(platform.TempoGossip),
		"otlpHTTP": listen(platform.TempoOTLPHTTP), "wal": wal,
		"maxBlock": minutes(platform.TempoMaxBlockDuration), "slack": minutes(platform.TempoIngestionSlack),
		"readers": tempoReaders,
	})
	c.Env = goMemoryLimit(r, goMemoryPercent)
	c.Args = append([]string{"tempo", "--wal=" + wal, "--", r.Executable}, c.Args...)
	return c, err
}

// Pyroscope configures the profile store: blocks in S3 below
// platform.PrefixPyroscope until the retention ends, and only those not yet
// uploaded in DataDir.
func Pyroscope(r platform.WorkloadRecord, s Settings) (Config, error) {
	c, err := s3Store(PyroscopeFile, s.PyroscopeRetention, platform.PrefixPyroscope, map[string]any{
		"http": int(r.EndpointPort()), "grpc": int(platform.PyroscopeGRPC), "profileBytes": platform.MaxProfileMiB << 20,
	})
	c.Env = goMemoryLimit(r, goMemoryPercent)
	return c, err
}

// tempoReaders is how many blocks are read at the same time. Looking up a trace opens every
// column of every block, with a buffer each: 800 MB for the 400 readers of Tempo's default, twice,
// since the querier and the compactor have a pool each (heap profile of 2.9.0: 2.3 GB).
const tempoReaders = 20

// s3Store configures a store whose file takes the S3 settings and values.
func s3Store(file string, retention time.Duration, prefix platform.Prefix, values map[string]any) (Config, error) {
	data := map[string]any{
		"data": DataDir, "prefix": prefix.Name(), "retention": hours(retention),
		"bucket": platform.ConfigBucket, "region": platform.ConfigRegion, "endpoint": platform.ConfigS3Endpoint,
		"insecure": platform.ConfigS3Insecure, "pathStyle": platform.ConfigS3PathStyle,
	}
	maps.Copy(data, values)
	body, err := render(file, data)
	if err != nil {
		return Config{}, err
	}
	return Config{
		Args:  []string{"-config.file=" + path.Join(ConfigDir, file), "-config.expand-env=true"},
		Files: map[string]string{file: body},
	}, nil
}
