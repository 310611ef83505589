package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/statustest"
)

// sparkStep runs a step as a driver whose plugin sends its phases before the end.
type sparkStep struct {
	emrapitest.NoNodes
	t    *testing.T
	page *statustest.Page
	runs atomic.Int64
}

func (s *sparkStep) RunStep(_ context.Context, cluster string, step types.Step) error {
	s.page.Send(s.t, cluster, *step.Id, fmt.Sprintf("application_17_000%d", s.runs.Add(1)), 0, map[platform.Phase]float64{
		platform.PhaseResourceWait: 31, platform.PhaseCompute: 44, platform.PhaseWrite: 20, platform.PhaseDriver: 5,
	})
	return nil
}

// An operator of a platform on AWS reaches its status page with the stack's outputs.
func TestSubmitPrintsThePhases(t *testing.T) {
	page := statustest.New(t)
	cluster := emrapitest.ServeCluster(t, &sparkStep{t: t, page: page})
	file := func(text []byte) string {
		name := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(name, text, 0o600))
		return name
	}
	ca, password := file(page.Access.CACertificate), file([]byte(page.Access.Password+"\n"))
	run := func(args ...string) (stdout, stderr string) {
		var out, problems bytes.Buffer
		command := submitCommand(&settings{state: t.TempDir()})
		command.SetOut(&out)
		command.SetErr(&problems)
		command.SetArgs(append(args, "s3://data/job.py"))
		require.NoError(t, command.ExecuteContext(t.Context()), problems.String())
		return out.String(), problems.String()
	}
	const wait = 5 * time.Minute
	access := []string{"--wait", "--phases-wait", wait.String(), "--cluster", cluster,
		"--status-url", page.URL, "--ca-certificate", ca, "--password-file", password}
	timeline := func(app string) string { return "https://10.0.0.4:3000/d/timeline?app=" + app + "&cluster=" + cluster }
	began := time.Now()
	out, problems := run(access...)
	require.Less(t, time.Since(began), wait, "the final phases end the wait")
	require.Contains(t, out, " COMPLETED")
	require.Regexp(t, `(?m)^application_17_0001: wait 31 % · compute 44 % · write 20 % · driver 5 %; `+
		`waiting for resources cost up to 31 s \(31 %\), try yarn.scheduler.* \(docs/recipes/troubleshoot/resource-wait-long.md\); `+
		`\d+ checks need the history\n`+regexp.QuoteMeta("  page: https://10.0.0.4:3443/status/applications/application_17_0001\n"+
		"  timeline: "+timeline("application_17_0001"))+`\n\z`, out)
	require.NotContains(t, problems, "where its time went")

	out, _ = run(append(access, "--json")...)
	var result struct{ Phases []status.ApplicationPhases }
	require.NoError(t, json.Unmarshal([]byte(out), &result))
	require.Len(t, result.Phases, 1)
	require.Equal(t, timeline("application_17_0002"), result.Phases[0].Timeline)
	require.NotEmpty(t, result.Phases[0].Verdict.NeedHistory)
	require.InDelta(t, 44, result.Phases[0].Seconds[platform.PhaseCompute], 1e-9)

	command := submitCommand(&settings{state: t.TempDir()})
	command.SetArgs(append(access, "--ca-certificate", "absent", "s3://data/job.py"))
	require.ErrorContains(t, command.ExecuteContext(t.Context()), "pulumi stack output caCertificate", "before anything is submitted")
}
