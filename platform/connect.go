package platform

import (
	"regexp"
	"strings"
)

// ConnectTags are what a job's tags say about the call of a Spark Connect client that
// started it. observatory.spark.ConnectTags is the same in Java.
type ConnectTags struct {
	Session   string // "": no client's
	Operation string // unique within its session
	Parent    string // the trace context that the client added as a tag
}

// ConnectTagPrefix begins the tags that Spark's server gives jobs.
const ConnectTagPrefix = "SparkConnect_"

const uuid = `([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})`

// Tags that Spark's server gives jobs (ExecuteJobTag and ExecuteSessionTag, Spark 3.5 and
// 4.0), and the value of SparkConnectOperation.
var (
	operationTag     = regexp.MustCompile(`^` + ConnectTagPrefix + `OperationTag_User_.*_Session_` + uuid + `_Operation_` + uuid + `$`)
	sessionTag       = regexp.MustCompile(`^` + ConnectTagPrefix + `SessionTag_User_.*_Session_` + uuid + `_Tag_(.*)$`)
	connectOperation = regexp.MustCompile(`^` + uuid + `\.(.+)$`)
)

// ConnectParentTag begins the tag by which a client of Spark Connect names the parent of its
// operations; a trace context follows.
const ConnectParentTag = "traceparent="

// ParseConnectTags reads the tags of a job (spark.job.tags), or those of a session as the
// server's events have them. operation is the job's SparkConnectOperation, if it has one.
func ParseConnectTags(tags, operation string) (found ConnectTags) {
	for tag := range strings.SplitSeq(tags, ",") {
		if m := operationTag.FindStringSubmatch(tag); m != nil {
			found.Session, found.Operation = m[1], m[2]
		}
		if m := sessionTag.FindStringSubmatch(tag); m != nil {
			tag = m[2]
		}
		if parent, ok := strings.CutPrefix(tag, ConnectParentTag); ok {
			found.Parent = parent
		}
	}
	if m := connectOperation.FindStringSubmatch(operation); m != nil && found.Session == "" {
		found.Session, found.Operation = m[1], m[2]
	}
	return found
}

// Number is what a span of the operation is numbered by; "" if there is none.
func (t ConnectTags) Number() string {
	if t.Session == "" {
		return ""
	}
	return t.Session + "." + t.Operation
}
