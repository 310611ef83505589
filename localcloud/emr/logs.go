package emr

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/platform"
)

// stepsFolder is the folder of step logs below <log URI>/<cluster>/.
var stepsFolder = path.Base(path.Dir(path.Dir(platform.StepLogKey("cluster", "step", "log")))) //nolint:gochecknoglobals // derived

// logTrees are a node's log folders and where EMR's log pusher puts them under
// <log URI>/<cluster>/. <i> stands for the instance.
var logTrees = map[string]string{ //nolint:gochecknoglobals // a table
	platform.EMRStepLogDir:              stepsFolder,
	bootstrapLogs:                       "node/<i>/bootstrap-actions",
	platform.EMRContainerLogDir:         "containers",
	platform.EMRLogDir + "/hadoop-yarn": "node/<i>/applications/hadoop-yarn",
	platform.EMRLogDir + "/hadoop-hdfs": "node/<i>/applications/hadoop-hdfs",
	platform.EMRLogDir + "/spark":       "node/<i>/applications/spark",
}

// PushLogs writes the cluster's logs, gzipped, under its log URI. EMR's pusher
// runs every five minutes; here it runs when something has ended. As there, a
// log that has not changed is not written again.
func (s *Service) PushLogs(ctx context.Context, clusterID string) error {
	cluster, err := s.Store.Cluster(clusterID)
	if err != nil || cluster.LogUri == nil {
		return err
	}
	nodes, err := s.cluster(clusterID)
	if err != nil {
		return err
	}
	bucket, prefix, err := s3.Split(strings.Replace(*cluster.LogUri, "s3n://", "s3://", 1))
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(prefix, "/") + "/" + clusterID + "/"
	var errs []error
	for _, n := range nodes {
		if n.machine == nil {
			continue
		}
		for tree, to := range logTrees {
			to = base + strings.ReplaceAll(to, "<i>", n.instanceID)
			errs = append(errs, s.pushTree(ctx, n, bucket, filepath.Join(n.machine.Root, tree), to))
		}
	}
	return errors.Join(errs...)
}

// stamp tells whether a log has changed.
type stamp struct {
	size     int64
	modified time.Time
}

func (s *Service) pushTree(ctx context.Context, n *node, bucket, dir, to string) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == "containers" && file != dir { // has a tree of its own
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil || !e.Type().IsRegular() || strings.HasSuffix(file, ".gz") {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		now := stamp{info.Size(), info.ModTime()}
		if before, ok := n.pushed.Load(file); ok && before == now {
			return nil
		}
		body, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(body); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := s.Objects.Put(ctx, bucket, to+"/"+filepath.ToSlash(rel)+".gz", packed.Bytes()); err != nil {
			return err
		}
		n.pushed.Store(file, now)
		return nil
	})
}
