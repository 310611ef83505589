package telemetry

import (
	"errors"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Staged is a verified file on this machine to be uploaded.
type Staged struct {
	Name   string // file name: its key's last part and part of its logical name
	Arch   string // platform.ArchAMD64, platform.ArchARM64, or "" for any
	SHA256 string // lower-case hex of the content
	Path   string // on this machine
}

// Args name the files to stage. Validate checks them.
type Args struct {
	Region           string             // required, us-east-1
	Bucket           pulumi.StringInput // required, name of the data bucket
	BucketARN        pulumi.StringInput // required
	KMSKeyARN        pulumi.StringInput // required, the bucket's default key
	ControlPrivateIP pulumi.StringInput // required, where the nodes send telemetry

	Identity schema.Identity // of the policy

	Artifacts     []Staged // what the bootstrap action downloads; see node.BootstrapInput for which are needed
	LauncherJar   Staged   // required; travels inside the bootstrap action
	ControlBinary Staged   // required, of the control node's architecture

	ProfilerBinary Staged // likewise; the zero value: there is no profiler
}

// Validate reports every violation at once. It checks that the files exist, and
// trusts that their contents were verified.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("telemetry: arguments are nil; pass *telemetry.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, "telemetry.region", a.Region)
	for _, in := range []struct {
		path  string
		value pulumi.StringInput
	}{{"bucket", a.Bucket}, {"bucketArn", a.BucketARN}, {"kmsKeyArn", a.KMSKeyARN}, {"controlPrivateIp", a.ControlPrivateIP}} {
		l.Require(in.value != nil, "telemetry."+in.path, nil, "must be given", "pass the output of the storage or control node component")
	}
	l.Require(len(a.Artifacts) > 0, "telemetry.artifacts", len(a.Artifacts), "must not be empty", "run `make artifacts`")
	seen := map[string]bool{}
	for i, s := range a.Artifacts {
		at := fmt.Sprintf("telemetry.artifacts[%d]", i)
		s.validate(&l, at)
		l.Require(!seen[s.Name], at+".name", s.Name, "must be named once", "remove the repetition")
		seen[s.Name] = true
	}
	a.LauncherJar.validate(&l, "telemetry.launcherJar")
	a.ControlBinary.validate(&l, "telemetry.controlBinary")
	if a.hasProfiler() {
		a.ProfilerBinary.validate(&l, "telemetry.profilerBinary")
	}
	return l.Err()
}

func (a *Args) hasProfiler() bool { return a.ProfilerBinary != Staged{} }

func (s Staged) validate(l *violation.List, at string) {
	l.Require(platform.IsFileName(s.Name), at+".name", s.Name, "must be a plain file name", "use letters, digits, dot, dash and underscore")
	l.Require(s.Arch == "" || s.Arch == platform.ArchAMD64 || s.Arch == platform.ArchARM64, at+".arch", s.Arch,
		"must be amd64, arm64 or empty", "correct it")
	l.Require(platform.IsSHA256(s.SHA256), at+".sha256", s.SHA256, "must be 64 lower-case hex digits", "run `make artifacts`")
	info, err := os.Stat(s.Path)
	l.Require(err == nil && info.Mode().IsRegular(), at+".path", s.Path, "must be a file", "run `make artifacts`")
}
