package emr

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

// commandRunner is EMR's jar that runs a program of the primary node.
const commandRunner = "command-runner.jar"

// RunStep implements emrapi.StepRunner: the step's program runs on the primary
// node as hadoop, its logs go to the node and then to S3.
func (s *Service) RunStep(ctx context.Context, clusterID string, step types.Step) error {
	nodes, err := s.cluster(clusterID)
	if err != nil {
		return err
	}
	master, id := nodes[0], aws.ToString(step.Id)
	argv, err := program(step)
	dir := path.Join(platform.EMRStepLogDir, id)
	start := time.Now()
	if err != nil {
		_ = master.write(dir+"/controller", controllerLog([]string{aws.ToString(step.Config.Jar)}, start, 1)+err.Error()+"\n", 0o644)
		return s.failed(clusterID, id, "Unknown Error.", err.Error())
	}
	if err := master.machine.Must(context.WithoutCancel(ctx), machine.Exec{Argv: []string{"install", "-d", "-o", "hadoop", "-g", "hadoop", dir}}); err != nil {
		return err
	}
	_ = master.write(dir+"/syslog", "", 0o644)
	res, runErr := master.machine.Run(ctx, machine.Exec{
		Argv: argv, User: "hadoop", Dir: "/", Stdout: dir + "/stdout", Stderr: dir + "/stderr",
		Env: map[string]string{"EMR_STEP_ID": id, "HADOOP_CONF_DIR": platform.EMRHadoopConfDir, "SPARK_HOME": platform.EMRSparkHome, "JAVA_HOME": hadoop.JavaHome},
	})
	code := res.ExitCode
	if runErr != nil { // killed, or never begun
		code = -1
	}
	if err := master.write(dir+"/controller", controllerLog(argv, start, code), 0o644); err != nil {
		s.Log.Warn("step log", "step", id, "error", err)
	}
	if err := s.PushLogs(context.WithoutCancel(ctx), clusterID); err != nil {
		s.Log.Warn("push logs", "cluster", clusterID, "error", err)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case runErr != nil:
		return s.failed(clusterID, id, "Unknown Error.", runErr.Error())
	case res.ExitCode != 0:
		return s.failed(clusterID, id, "Unknown Error.", firstError(filepath.Join(master.machine.Root, dir, "stderr")))
	}
	return nil
}

func program(step types.Step) ([]string, error) {
	jar := aws.ToString(step.Config.Jar)
	if path.Base(jar) != commandRunner {
		return nil, fmt.Errorf("jar %s: the local cloud runs steps by %s only", jar, commandRunner)
	}
	if len(step.Config.Args) == 0 {
		return nil, fmt.Errorf("%s needs a program in its arguments", commandRunner)
	}
	return step.Config.Args, nil
}

func (s *Service) failed(clusterID, stepID, reason, message string) error {
	details := types.FailureDetails{Reason: aws.String(reason), Message: aws.String(message)}
	if c, err := s.Store.Cluster(clusterID); err == nil && c.LogUri != nil {
		details.LogFile = aws.String(strings.TrimSuffix(*c.LogUri, "/") + "/" + platform.StepLogKey(clusterID, stepID, "stderr"))
	}
	return &emrapi.StepFailure{Details: details}
}

// firstError finds the line that names the failure, as EMR's console shows it.
func firstError(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	last := ""
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "Exception in thread") || strings.HasPrefix(line, "Caused by:") || strings.Contains(line, "Error:") {
			return line
		}
		if line != "" {
			last = line
		}
	}
	return last
}
