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

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/platform"
)

// bootstrapError is the failure of a bootstrap action, as EMR reports it.
type bootstrapError struct {
	role, instance string
	ordinal        int
	errorCode      string // EMR's, for this failure on the primary instance
	outcome        string // end of EMR's sentence
}

// EMR's codes for failures on the primary instance (Management Guide, "ErrorDetail
// codes"); it has none for other instances.
const (
	codeNonZeroExit    = "BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE"
	codeDownloadFailed = "BOOTSTRAP_FAILURE_BA_DOWNLOAD_FAILED_PRIMARY"
)

// Error returns EMR's sentence about the failure.
func (e *bootstrapError) Error() string {
	where := "On the primary instance"
	if e.role != platform.RoleMaster {
		where = "On " + e.role + " instance"
	}
	return fmt.Sprintf("BOOTSTRAP_FAILURE: %s (%s), bootstrap action %d %s", where, e.instance, e.ordinal, e.outcome)
}

// details returns what DescribeCluster returns about the failure.
func (e *bootstrapError) details() []types.ErrorDetail {
	if e == nil || e.role != platform.RoleMaster {
		return nil
	}
	return []types.ErrorDetail{{
		ErrorCode: aws.String(e.errorCode), ErrorMessage: aws.String(e.Error()),
		ErrorData: []map[string]string{{"primary-instance-id": e.instance, "bootstrap-action": fmt.Sprint(e.ordinal)}},
	}}
}

// bootstrapLogDir is the controller's folder for the logs of bootstrap actions.
const bootstrapLogDir = platform.EMRControllerDir + "/log/bootstrap-actions"

// runBootstrapActions runs the bootstrap actions on nodes: in order, as hadoop.User,
// each in a folder of its own. It pushes their logs.
func (s *Service) runBootstrapActions(ctx context.Context, id string, nodes []*node, actions []types.BootstrapActionConfig) error {
	err := forEachNode(nodes, func(n *node) error {
		for i, a := range actions {
			if err := s.runAction(ctx, n, i+1, aws.ToString(a.Name), *a.ScriptBootstrapAction); err != nil {
				return err
			}
		}
		return nil
	})
	s.pushLogs(ctx, id)
	return err
}

// runAction runs one bootstrap action and writes its logs. A failure of the action
// is a *bootstrapError.
func (s *Service) runAction(ctx context.Context, n *node, ordinal int, name string, a types.ScriptBootstrapActionConfig) error {
	failure := &bootstrapError{role: n.Role, instance: n.instanceID, ordinal: ordinal}
	dir := fmt.Sprintf("%s/lib/bootstrap-actions/%d", platform.EMRControllerDir, ordinal)
	logs, location := fmt.Sprintf("%s/%d", bootstrapLogDir, ordinal), aws.ToString(a.Path)
	role, err := s.Credentials(ctx, n.profile)
	if err != nil {
		return err
	}
	// The node fetches it with its own role.
	script, err := s.Objects.GetAs(ctx, s3.Key{ID: role.AccessKeyID, Secret: role.SecretAccessKey}, location)
	if err != nil {
		failure.errorCode, failure.outcome = codeDownloadFailed, fmt.Sprintf("(%s) could not be downloaded: %v", name, err)
		return failure
	}
	file := path.Join(dir, path.Base(location))
	if err := n.write(file, string(script), 0o755); err != nil {
		return err
	}
	if err := n.machine.Must(ctx, machine.Exec{Argv: []string{"chown", "-R", hadoop.User, dir}}); err != nil {
		return err
	}
	start := time.Now()
	argv := append([]string{file}, a.Args...)
	res, err := n.machine.Run(ctx, machine.Exec{
		Argv: argv, Dir: dir, User: hadoop.User, Stdout: logs + "/stdout", Stderr: logs + "/stderr",
	})
	if err != nil {
		return fmt.Errorf("bootstrap action %d (%s) on %s: %w", ordinal, name, n.Host, err)
	}
	if err := n.write(logs+"/controller", controllerLog(argv, start, res.ExitCode), 0o644); err != nil {
		return err
	}
	if res.ExitCode != 0 {
		end := logTail(filepath.Join(n.machine.Root, logs, "stderr"), "its stderr")
		failure.errorCode, failure.outcome = codeNonZeroExit, fmt.Sprintf("(%s) returned a non-zero return code %d%s", name, res.ExitCode, end)
		return failure
	}
	return nil
}

// controllerLog renders what EMR's controller logs about a program that has ended.
func controllerLog(argv []string, start time.Time, code int) string {
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	end := time.Now()
	return fmt.Sprintf(`%s INFO startExec '%s'
%s INFO waitProcessCompletion ended with exit code %d
%s INFO total process run time: %d seconds
`, stamp(start), strings.Join(argv, " "), stamp(end), code, stamp(end), int(end.Sub(start).Seconds()))
}
