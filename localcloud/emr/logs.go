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

// logTrees maps a node's log folders to where EMR's log pusher puts them below
// <log URI>/<cluster>/. <i> is the instance's id.
func logTrees() map[string]string {
	steps := path.Base(path.Dir(path.Dir(platform.StepLogKey("cluster", "step", "log"))))
	daemons := func(of string) string { return strings.Trim(platform.NodeLogPrefix("", "<i>", of), "/") }
	return map[string]string{
		platform.EMRStepLogDir:                       steps,
		bootstrapLogDir:                              "node/<i>/bootstrap-actions",
		platform.EMRContainerLogDir:                  "containers",
		platform.EMRLogDir + "/" + platform.YARNLogs: daemons(platform.YARNLogs),
		platform.EMRLogDir + "/hadoop-hdfs":          daemons("hadoop-hdfs"),
		platform.EMRLogDir + "/spark":                daemons("spark"),
	}
}

// pushLogs writes the cluster's logs, gzipped, under its log URI. EMR's pusher
// runs every five minutes; here it runs when a bootstrap action, a step (LogDelay)
// or the cluster has ended. As on EMR, an unchanged log is not written again. A failure
// is only logged.
func (s *Service) pushLogs(ctx context.Context, clusterID string) {
	if err := s.pushTrees(ctx, clusterID); err != nil {
		s.Log.Warn("push logs", "cluster", clusterID, "error", err)
	}
}

func (s *Service) pushTrees(ctx context.Context, clusterID string) error {
	cluster, err := s.Store.Cluster(clusterID)
	if err != nil || cluster.LogUri == nil {
		return err
	}
	nodes, err := s.clusterNodes(clusterID)
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
		for tree, to := range logTrees() {
			to = base + strings.ReplaceAll(to, "<i>", n.instanceID)
			errs = append(errs, s.pushTree(ctx, n, bucket, filepath.Join(n.machine.Root, tree), to))
		}
	}
	return errors.Join(errs...)
}

// fileVersion differs whenever a log has changed.
type fileVersion struct {
	size     int64
	modified time.Time
}

// pushTree writes the logs of a folder below the key to. It skips files that are
// deleted in the meantime.
func (s *Service) pushTree(ctx context.Context, n *node, bucket, dir, to string) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return ignoreMissing(err)
		case e.IsDir() && e.Name() == "containers" && file != dir: // a tree of its own
			return filepath.SkipDir
		case !e.Type().IsRegular() || strings.HasSuffix(file, ".gz"):
			return nil
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return ignoreMissing(s.pushFile(ctx, n, bucket, file, to+"/"+filepath.ToSlash(rel)+".gz"))
	})
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// pushFile writes a log to S3 unless its copy there is up to date.
func (s *Service) pushFile(ctx context.Context, n *node, bucket, file, key string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	version := fileVersion{info.Size(), info.ModTime()}
	if pushed, ok := n.pushed.Load(file); ok && pushed == version {
		return nil
	}
	body, err := os.ReadFile(file)
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
	if err := s.Objects.Put(ctx, bucket, key, packed.Bytes()); err != nil {
		return err
	}
	n.pushed.Store(file, version)
	return nil
}
