package emr

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

// bootstrapError is the failure of a bootstrap action, as EMR reports it.
type bootstrapError struct {
	role, instance string
	ordinal        int
	detail         string // EMR's code of this failure on the primary instance
	what           string
}

// Codes of failures on the primary instance (Management Guide, "ErrorDetail
// codes"); there are none for other instances.
const (
	detailExitCode = "BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE"
	detailDownload = "BOOTSTRAP_FAILURE_BA_DOWNLOAD_FAILED_PRIMARY"
)

// Error is EMR's sentence, and what is known of the cause.
func (e *bootstrapError) Error() string {
	where := "On the primary instance"
	if e.role != platform.RoleMaster {
		where = "On " + e.role + " instance"
	}
	return fmt.Sprintf("BOOTSTRAP_FAILURE: %s (%s), bootstrap action %d %s", where, e.instance, e.ordinal, e.what)
}

func (e *bootstrapError) details() []types.ErrorDetail {
	if e == nil || e.role != platform.RoleMaster {
		return nil
	}
	return []types.ErrorDetail{{
		ErrorCode: aws.String(e.detail), ErrorMessage: aws.String(e.Error()),
		ErrorData: []map[string]string{{"primary-instance-id": e.instance, "bootstrap-action": fmt.Sprint(e.ordinal)}},
	}}
}

// bootstrapDir and bootstrapLogs are the controller's folders of an action.
func bootstrapDir(ordinal int) string {
	return fmt.Sprintf("%s/lib/bootstrap-actions/%d", platform.EMRControllerDir, ordinal)
}

const bootstrapLogs = platform.EMRControllerDir + "/log/bootstrap-actions"

// bootstrap runs the cluster's bootstrap actions on a node, in order, as the
// account hadoop, each in a folder of its own.
func (s *Service) bootstrap(ctx context.Context, n *node, actions []Action) error {
	for i, a := range actions {
		failed := &bootstrapError{role: n.Role, instance: n.instanceID, ordinal: i + 1}
		dir, logs := bootstrapDir(i+1), fmt.Sprintf("%s/%d", bootstrapLogs, i+1)
		script, err := s.Objects.Get(ctx, a.Path)
		if err != nil {
			failed.detail, failed.what = detailDownload, fmt.Sprintf("(%s) could not be downloaded: %v", a.Name, err)
			return failed
		}
		file := path.Join(dir, path.Base(a.Path))
		if err := n.write(file, string(script), 0o755); err != nil {
			return err
		}
		if err := n.machine.Must(ctx, machine.Exec{Argv: []string{"chown", "-R", "hadoop", dir}}); err != nil {
			return err
		}
		start := time.Now()
		argv := append([]string{file}, a.Args...)
		res, err := n.machine.Run(ctx, machine.Exec{Argv: argv, Dir: dir, User: "hadoop", Stdout: logs + "/stdout", Stderr: logs + "/stderr"})
		if err != nil {
			return fmt.Errorf("bootstrap action %d (%s) on %s: %w", i+1, a.Name, n.Host, err)
		}
		if err := n.write(logs+"/controller", controllerLog(argv, start, res.ExitCode), 0o644); err != nil {
			return err
		}
		if res.ExitCode != 0 {
			failed.detail = detailExitCode
			failed.what = fmt.Sprintf("(%s) returned a non-zero return code %d%s", a.Name, res.ExitCode, tail(filepath.Join(n.machine.Root, logs, "stderr"), "its stderr"))
			return failed
		}
	}
	return nil
}

// controllerLog has the lines that EMR's controller writes about a program.
func controllerLog(argv []string, start time.Time, code int) string {
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	end := time.Now()
	return fmt.Sprintf("%s INFO startExec '%s'\n%s INFO waitProcessCompletion ended with exit code %d\n%s INFO total process run time: %d seconds\n",
		stamp(start), strings.Join(argv, " "), stamp(end), code, stamp(end), int(end.Sub(start).Seconds()))
}
