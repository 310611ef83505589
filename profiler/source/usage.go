package source

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/emr-observatory/emr-observatory/internal/steplog"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Usage is what YARN accounted to an application, of whatever kind, when it ended.
type Usage struct {
	ApplicationID, Name string
	// MasterHost is the host of the last attempt's application master, without its domain.
	MasterHost string
	// Started and Finished are when YARN accepted it and when it ended.
	Started, Finished tables.Millis
	// VCoreSeconds and MiBSeconds add up the containers of all attempts, each from its allocation
	// to its end. With YARN's DefaultResourceCalculator, EMR's default, every container counts as one vcore.
	VCoreSeconds, MiBSeconds int64
}

// maxUsageBytes limits what one run reads of a cluster's logs, as they are stored. Later runs go on.
const maxUsageBytes = 256 << 20

// EndpointYARNLog is the resource manager's log in S3.
const EndpointYARNLog = "yarn_log"

// usage reads what YARN accounted to applications from the logs of the cluster's resource
// managers, which write a line when an application has ended (RMAppManager.ApplicationSummary).
// It adds to what an earlier run has read, and reads what EMR has uploaded since. A cluster
// without a log URI has none: the history has to do.
func (e *EMR) usage(ctx context.Context, described types.Cluster, listed Listed, cluster *Cluster) {
	cluster.Usage, cluster.Summary.YARNLogTime = maps.Clone(listed.Usage), listed.YARNLogTime
	if bucket, prefix, ok := steplog.Split(aws.ToString(described.LogUri)); ok {
		err := e.readUsage(ctx, bucket, prefix+aws.ToString(described.Id), cluster)
		const right = "s3:GetObject and s3:ListBucket on the cluster's log URI, and kms:Decrypt if it is encrypted"
		cluster.report(EndpointYARNLog, refused(err, right))
	}
}

func (e *EMR) readUsage(ctx context.Context, bucket, cluster string, into *Cluster) error {
	var logs []s3types.Object
	for _, i := range into.Instances {
		if i.Role != Primary {
			continue
		}
		of, err := e.objects(ctx, bucket, platform.NodeLogPrefix(cluster, i.InstanceID, platform.YARNLogs))
		if err != nil {
			return err
		}
		logs = append(logs, of...)
	}
	after := time.UnixMilli(into.Summary.YARNLogTime)
	logs = slices.DeleteFunc(logs, func(o s3types.Object) bool {
		key := aws.ToString(o.Key)
		return aws.ToTime(o.LastModified).Before(after) || !strings.Contains(path.Base(key), resourceManagerLog) || path.Ext(key) != ".gz"
	})
	slices.SortFunc(logs, func(a, b s3types.Object) int { return aws.ToTime(a.LastModified).Compare(aws.ToTime(b.LastModified)) })
	left := int64(maxUsageBytes)
	for i, log := range logs {
		if left -= aws.ToInt64(log.Size); left < 0 && i > 0 {
			return fmt.Errorf("of the resource manager's logs %d MiB are read at a time: the next run goes on", maxUsageBytes>>20)
		}
		_, err := steplog.Scan(ctx, e.s3, bucket, aws.ToString(log.Key), func(line string, rest bool) {
			if u, ok := ParseUsage(line); ok && !rest {
				into.account(u)
			}
		})
		if err != nil && !isLost(err) {
			return err // names the object
		}
		into.Summary.YARNLogTime = aws.ToTime(log.LastModified).UnixMilli()
	}
	return nil
}

// isLost reports whether reading a log again does not help: it is gone, archived in Glacier, or
// was cut when its node ended. What it had up to there is read.
func isLost(err error) bool {
	var archived *s3types.InvalidObjectState
	for _, lost := range []error{steplog.ErrNone, io.EOF, io.ErrUnexpectedEOF, gzip.ErrHeader, gzip.ErrChecksum} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return errors.As(err, &archived)
}

// resourceManagerLog is in the names of the resource manager's logs: those of Hadoop 2 begin with
// yarn-yarn, later ones as platform.ResourceManagerLog.
const resourceManagerLog = "-resourcemanager-"

// objects lists the objects below a prefix.
func (e *EMR) objects(ctx context.Context, bucket, prefix string) (found []s3types.Object, err error) {
	pages := s3.NewListObjectsV2Paginator(e.s3, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list s3://%s/%s: %w", bucket, prefix, err)
		}
		found = append(found, page.Contents...)
	}
	return found, nil
}

// account adds an application's usage. A resource manager that takes over, or starts again,
// may write its line twice, the second time without the containers before its start.
func (c *Cluster) account(u Usage) {
	if c.Usage == nil {
		c.Usage = map[string]Usage{}
	}
	if c.Usage[u.ApplicationID].VCoreSeconds <= u.VCoreSeconds {
		c.Usage[u.ApplicationID] = u
	}
}

// ParseUsage reads a line of a resource manager's log. It is false for all lines but those of
// RMAppManager.ApplicationSummary, whose fields are name=value, separated by commas. In values,
// a backslash is before commas, equals signs and backslashes.
func ParseUsage(line string) (Usage, bool) {
	class, fields, ok := strings.Cut(line, ": appId=")
	if !ok || !strings.Contains(class, "RMAppManager$ApplicationSummary") {
		return Usage{}, false
	}
	value := map[string]string{}
	for i, field := range splitEscaped("appId="+fields, ',') {
		if name, text, ok := strings.Cut(field, "="); ok && (i == 0 || value[name] == "") {
			value[name] = unescaped(text)
		}
	}
	number := func(name string) int64 {
		n, err := strconv.ParseInt(value[name], 10, 64)
		ok = ok && err == nil && n >= 0
		return n
	}
	u := Usage{
		ApplicationID: value["appId"], Name: shown(value["name"]), MasterHost: HostOf(value["appMasterHost"]),
		Started: number("startTime"), Finished: number("finishTime"),
		VCoreSeconds: number("vcoreSeconds"), MiBSeconds: number("memorySeconds"),
	}
	if u.MasterHost == "n/a" { // it never had one
		u.MasterHost = ""
	}
	return u, ok && platform.IsYARNApplicationID(u.ApplicationID)
}

// splitEscaped splits a text at separators that have no backslash before them.
func splitEscaped(text string, separator byte) (parts []string) {
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case separator:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// unescaped removes the backslashes before other characters.
func unescaped(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
