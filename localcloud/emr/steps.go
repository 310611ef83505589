package emr

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

// commandRunner is EMR's jar that runs a command on the primary node.
const commandRunner = "command-runner.jar"

// RunStep implements emrapi.StepRunner: the step's program runs on the primary
// node as hadoop.User; its logs are written there and pushed to S3, see LogDelay.
func (s *Service) RunStep(ctx context.Context, clusterID string, step types.Step) error {
	nodes, err := s.clusterNodes(clusterID)
	if err != nil {
		return fmt.Errorf("run step %s: %w", aws.ToString(step.Id), err)
	}
	master, id := nodes[0], aws.ToString(step.Id)
	dir, start := path.Join(platform.EMRStepLogDir, id), time.Now()
	argv, err := stepCommand(step)
	if err != nil {
		log := controllerLog([]string{aws.ToString(step.Config.Jar)}, start, 1) + err.Error() + "\n"
		return errors.Join(s.stepFailure(clusterID, id, err.Error()), master.write(dir+"/controller", log, 0o644))
	}
	res, runErr := master.runStep(ctx, id, dir, argv)
	code := res.ExitCode
	if runErr != nil { // killed, or not started
		code = -1
	}
	if err := master.write(dir+"/controller", controllerLog(argv, start, code), 0o644); err != nil {
		s.Log.Warn("write step log", "step", id, "error", err)
	}
	if err := s.findStepApplications(clusterID, master, id); err != nil {
		s.Log.Warn("find the applications of a step", "step", id, "error", err)
	}
	s.pushStepLogs(context.WithoutCancel(ctx), clusterID)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("run step %s: %w", id, ctx.Err())
	case runErr != nil:
		return s.stepFailure(clusterID, id, runErr.Error())
	case res.ExitCode != 0:
		return s.stepFailure(clusterID, id, failureLine(filepath.Join(master.machine.Root, dir, "stderr")))
	}
	return nil
}

// pushStepLogs pushes at once, or after LogDelay without holding up the step.
func (s *Service) pushStepLogs(ctx context.Context, clusterID string) {
	if s.LogDelay > 0 {
		time.AfterFunc(s.LogDelay, func() { s.pushLogs(ctx, clusterID) })
	} else {
		s.pushLogs(ctx, clusterID)
	}
}

// stepWorkDir has the working directory of each step, as the controller log of a real
// one says ("Working dir /mnt/var/lib/hadoop/steps/s-…").
const stepWorkDir = "/mnt/var/lib/hadoop/steps"

// runStep runs a step's program as user hadoop, in a working directory of its own, with its
// logs in dir.
func (n *node) runStep(ctx context.Context, id, dir string, argv []string) (machine.ExecResult, error) {
	working := path.Join(stepWorkDir, id)
	create := []string{"install", "-d", "-o", hadoop.User, "-g", hadoop.User, dir, working}
	if err := n.machine.Must(context.WithoutCancel(ctx), machine.Exec{Argv: create}); err != nil {
		return machine.ExecResult{}, err
	}
	if err := n.write(dir+"/syslog", "", 0o644); err != nil {
		return machine.ExecResult{}, err
	}
	return n.machine.Run(ctx, machine.Exec{
		Argv: argv, User: hadoop.User, Dir: working, Stdout: dir + "/stdout", Stderr: dir + "/stderr",
		Env: map[string]string{
			"EMR_STEP_ID": id, "HADOOP_CONF_DIR": platform.EMRHadoopConfDir, "SPARK_HOME": platform.EMRSparkHome,
			"JAVA_HOME": hadoop.JavaHome,
		},
	})
}

// stepCommand returns the command line of a step.
func stepCommand(step types.Step) ([]string, error) {
	jar := aws.ToString(step.Config.Jar)
	if path.Base(jar) != commandRunner {
		return nil, fmt.Errorf("jar %s: the local cloud runs steps of %s only", jar, commandRunner)
	}
	if len(step.Config.Args) == 0 {
		return nil, fmt.Errorf("%s needs a program in its arguments", commandRunner)
	}
	return step.Config.Args, nil
}

// stepFailure returns a step's failure as EMR reports it.
func (s *Service) stepFailure(clusterID, stepID, message string) error {
	details := types.FailureDetails{Reason: aws.String("Unknown Error.")}
	if message != "" {
		details.Message = aws.String(message)
	}
	if c, err := s.Store.Cluster(clusterID); err == nil && c.LogUri != nil {
		details.LogFile = aws.String(strings.TrimSuffix(*c.LogUri, "/") + "/" + platform.StepLogKey(clusterID, stepID, "stderr"))
	}
	return &emrapi.StepFailure{Details: details}
}

// failureLine returns the line of a log that names the failure, "" if none does: EMR's
// FailureDetails has "text from an error log that describes the root cause" (API Reference).
func failureLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if belowError.MatchString(line) {
			continue
		}
		if strings.HasPrefix(line, "Exception in thread") || strings.HasPrefix(line, "Caused by:") || strings.Contains(line, "Error:") {
			return line
		}
	}
	return ""
}

// belowError matches log4j's events that are no error.
var belowError = regexp.MustCompile(`^[-/0-9]+[ T][:.,0-9]+Z? (TRACE|DEBUG|INFO|WARN) `)
