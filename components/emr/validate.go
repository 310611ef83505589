package emr

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/components/internal/fault"
	"github.com/emr-observatory/emr-observatory/platform"
)

var (
	releaseLabel = regexp.MustCompile(`^emr-(\d{1,2})\.(\d{1,2})\.(\d{1,2})$`)
	// secretKey: names under which secrets travel (cf. spark.redaction.regex).
	secretKey = regexp.MustCompile(`(?i)(secret|password|passwd|token|(secret|access|api)[.-]?key)$`)
)

// The oldest release: 6.2.0 brought IMDSv2 to all of EMR's parts, which the
// security configuration demands; defaultJavaOptions came with 6.1.0.
const (
	oldestMajor = 6
	oldestMinor = 2
)

// Bounds of an idle timeout (EMR API, AutoTerminationPolicy).
const (
	shortestIdle = time.Minute
	longestIdle  = 7 * 24 * time.Hour
)

// Validate reports every fault of the arguments at once. It asks nothing of
// AWS: whether a type is offered in the zone is for EMR to say.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("emr: arguments are nil; pass *emr.Args")
	}
	var l fault.List
	l.Unless(fault.Region.MatchString(a.Region), "emr.region", a.Region, "must be an AWS region", "name one, e.g. us-east-1")
	l.Unless(supportedRelease(a.ReleaseLabel), "emr.releaseLabel", a.ReleaseLabel,
		fmt.Sprintf("must be emr-X.Y.Z, at least emr-%d.%d.0; emr-spark-* has other applications and paths", oldestMajor, oldestMinor), "use e.g. emr-7.10.0")
	a.validateApplications(&l)
	a.validateGroups(&l)
	l.Unless(a.IdleTimeout == 0 || a.IdleTimeout >= shortestIdle && a.IdleTimeout <= longestIdle && a.IdleTimeout%time.Second == 0,
		"emr.idleTimeout", a.IdleTimeout.String(), "must be 0 (never) or whole seconds from 1m to 168h", "set it, e.g. to 1h")
	l.Unless(!a.Ephemeral || !a.TerminationProtection, "emr.terminationProtection", true,
		"must be off in an ephemeral stack: EMR would refuse to end the cluster", "switch one of the two off")
	a.validateSparkDefaults(&l)
	a.validateInputs(&l)
	l.Tags("emr.tags", a.Tags, platform.EMRManagedPolicyTag)
	return l.Join()
}

func (a *Args) validateApplications(l *fault.List) {
	has := func(s string) func(string) bool {
		return func(o string) bool { return strings.EqualFold(s, o) } // the API ignores case
	}
	l.Unless(slices.ContainsFunc(a.Applications, has("Spark")), "emr.applications", a.Applications, "must name Spark", "add it")
	for i, s := range a.Applications {
		at := fmt.Sprintf("emr.applications[%d]", i)
		l.Unless(strings.TrimSpace(s) != "", at, s, "must be an application's name", "remove it")
		l.Unless(!slices.ContainsFunc(a.Applications[:i], has(s)), at, s, "must be named once", "remove the repetition")
	}
}

func supportedRelease(label string) bool {
	m := releaseLabel.FindStringSubmatch(label)
	if m == nil {
		return false
	}
	major, err1 := strconv.Atoi(m[1])
	minor, err2 := strconv.Atoi(m[2])
	if err1 != nil || err2 != nil {
		return false
	}
	return major > oldestMajor || major == oldestMajor && minor >= oldestMinor
}

func (a *Args) validateSparkDefaults(l *fault.List) {
	for _, k := range slices.Sorted(maps.Keys(a.SparkDefaults)) {
		v, at := a.SparkDefaults[k], "emr.sparkDefaults."+k
		if secretKey.MatchString(k) {
			// The value is not repeated here. EMR shows configurations in plain
			// text and hands them back masked, which replaces the cluster.
			l.Unless(false, at, "(hidden)", "must not be a secret", "read it from Secrets Manager in the job")
			continue
		}
		l.Unless(strings.HasPrefix(k, "spark.") && !strings.ContainsAny(k, " \t\r\n="), at, v, "must be named by a property of Spark", "write its full name, e.g. spark.executor.memory")
		l.Unless(!strings.ContainsAny(v, "\r\n"), at, v, "must be one line, as the file that it goes into", "remove the line break")
		l.Unless(a.AllowSparkWithoutAgent || !dropsAgent(k, v), at, v, "must keep "+agentFlag+", or the JVMs report nothing",
			"use "+strings.Replace(k, "defaultJavaOptions", "extraJavaOptions", 1)+", which Spark adds to it, or allow it by AllowSparkWithoutAgent")
	}
}

// containsFlag looks for a whole word, as the JVM would.
func containsFlag(options, flag string) bool { return slices.Contains(strings.Fields(options), flag) }

func (a *Args) validateInputs(l *fault.List) {
	for _, in := range []struct {
		path string
		set  bool
	}{
		{"subnetId", a.SubnetID != nil}, {"masterSecurityGroupId", a.MasterSecurityGroupID != nil}, {"coreSecurityGroupId", a.CoreSecurityGroupID != nil},
		{"serviceAccessSecurityGroupId", a.ServiceAccessSecurityGroupID != nil}, {"bucket", a.Bucket != nil}, {"bucketArn", a.BucketARN != nil},
		{"kmsKeyArn", a.KMSKeyARN != nil}, {"bootstrapPath", a.BootstrapPath != nil}, {"bootstrapArgs", a.BootstrapArgs != nil},
	} {
		l.Unless(in.set, "emr."+in.path, nil, "must be given", "pass the other component's output")
	}
}
