package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/clustertelemetry"
	"github.com/emr-observatory/emr-observatory/status/scheduletelemetry"
	"github.com/emr-observatory/emr-observatory/status/senders"
	"github.com/emr-observatory/emr-observatory/status/steptelemetry"
)

// Limits of a connection. A status takes as long as its slowest query.
const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 10 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = 2 * time.Minute
	maxHeaderBytes  = 16 << 10
	shutdownTimeout = 5 * time.Second // clients without an answer by then retry
)

// files are the paths of what the server reads at its start, and its other settings.
type files struct {
	config, certificate, key, password, caCertificate string

	serverName    string // no file: in the workloads' certificates
	samplingRatio string // of the steps' traces; "" = steps have no spans
	data          string // folder; "" = none
}

func serveCommand() *cobra.Command {
	var f files
	var address string
	c := &cobra.Command{
		Use: "serve", Args: cobra.NoArgs,
		Short: "Serve " + status.Path + " over TLS, with a password, and record clusters and their steps",
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, password, certificate, err := f.load(cmd.Context())
			if err != nil {
				return err
			}
			steps, err := steptelemetry.New(cmd.Context(), source, f.data)
			if err != nil {
				return fmt.Errorf("record steps: %w", err)
			}
			clusters, err := clustertelemetry.New(cmd.Context(), source)
			if err != nil {
				return fmt.Errorf("record clusters: %w", err)
			}
			role, err := nodeRole(cmd.Context(), source.Config.Region)
			if err != nil {
				return err
			}
			nodes := senders.New(source, emr.NewFromConfig(role))
			source.Recorders = []status.Recorder{steps, clusters, nodes}
			if err := f.recordSchedules(cmd.Context(), &source); err != nil {
				return err
			}
			go steps.Run(cmd.Context())
			go clusters.Run(cmd.Context())
			go nodes.Run(cmd.Context())
			return serve(cmd.Context(), newServer(address, certificate, status.Handler(source, password)))
		},
	}
	c.Flags().StringVar(&f.config, "config", "", "what to report on (JSON, required)")
	c.Flags().StringVar(&f.certificate, "certificate", "", "the server's certificate (PEM)")
	c.Flags().StringVar(&f.key, "key", "", "its private key (PEM)")
	c.Flags().StringVar(&f.password, "password-file", "", "file with the password of the user "+platform.StatusUser)
	c.Flags().StringVar(&f.caCertificate, "ca-certificate", "", "CA of the workloads' certificates (PEM; default: this machine's)")
	c.Flags().StringVar(&f.serverName, "server-name", "", "name in the workloads' certificates (default: each workload's own)")
	c.Flags().StringVar(&f.samplingRatio, "sampling-ratio", "",
		"share of the steps' traces that is kept, 0 to 1 (default: steps have no spans)")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf(":%d", platform.Status), "address to listen on")
	c.Flags().StringVar(&f.data, "data", "", "folder that keeps which steps were recorded (default: none, and the last day's are sent again)")
	return c
}

// load reads the files and reports everything that is wrong with them at once.
func (f files) load(ctx context.Context) (status.Source, string, tls.Certificate, error) {
	config, configErr := status.LoadConfig(f.config)
	certificate, certificateErr := tls.LoadX509KeyPair(f.certificate, f.key)
	if certificateErr != nil {
		certificateErr = fmt.Errorf("--certificate %q, --key %q: %w; give the files of the Secret %s", f.certificate, f.key, certificateErr,
			platform.AccessSecret(platform.WorkloadStatus))
	}
	password, passwordErr := basicauth.Read(f.password)
	if passwordErr != nil {
		passwordErr = fmt.Errorf("--password-file: %w", passwordErr)
	}
	client, clientErr := f.client()
	tracing, tracingErr := status.ParseTracing(f.samplingRatio)
	if tracingErr != nil {
		tracingErr = fmt.Errorf("--sampling-ratio: %w", tracingErr)
	}
	role, roleErr := nodeRole(ctx, config.Region)
	if err := errors.Join(configErr, certificateErr, passwordErr, clientErr, tracingErr, roleErr); err != nil {
		return status.Source{}, "", tls.Certificate{}, err
	}
	api := emr.NewFromConfig(role)
	return status.Source{
		Config: config, Client: client, Steps: status.NewStepReader(api, tracing), Clusters: status.NewClusterReader(api, config),
		Password: password,
	}, password, certificate, nil
}

// nodeRole is the configuration of clients that call AWS with the control node's role. A throttled request
// is repeated once; then the page says so.
func nodeRole(ctx context.Context, region string) (aws.Config, error) {
	config, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(region), awsconfig.WithRetryMaxAttempts(2))
	if err != nil {
		return aws.Config{}, fmt.Errorf("configure the clients of AWS: %w", err)
	}
	return config, nil
}

// recordSchedules reads the queue of runs that did not start, if the stack has schedules.
func (f files) recordSchedules(ctx context.Context, source *status.Source) error {
	if source.Config.LostRuns == "" {
		return nil
	}
	role, err := nodeRole(ctx, source.Config.Region)
	if err != nil {
		return err
	}
	schedules, err := scheduletelemetry.New(ctx, source.Config, sqs.NewFromConfig(role), f.data, f.samplingRatio != "")
	if err != nil {
		return fmt.Errorf("record schedules: %w", err)
	}
	source.Recorders = append(source.Recorders, schedules)
	source.LostRuns, source.ScheduledSince = schedules.Lost, schedules.Since
	go schedules.Run(ctx)
	return nil
}

// client queries the workloads.
func (f files) client() (*http.Client, error) {
	var ca []byte
	var err error
	if f.caCertificate != "" {
		if ca, err = os.ReadFile(f.caCertificate); err != nil {
			return nil, fmt.Errorf("--ca-certificate: %w", err)
		}
	}
	return status.NewClient(ca, f.serverName)
}

// newServer serves operators: over TLS only, with limits for slow clients.
func newServer(address string, certificate tls.Certificate, handler http.Handler) *http.Server {
	return &http.Server{
		Addr: address, Handler: handler, ErrorLog: log.New(withoutProbes{}, "", 0),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		TLSConfig:      &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}},
	}
}

// serve runs a server, over TLS if it is configured, until ctx is done; then it
// finishes the requests in progress.
func serve(ctx context.Context, server *http.Server) error {
	served := make(chan error, 1)
	go func() {
		if server.TLSConfig == nil {
			served <- server.ListenAndServe()
			return
		}
		served <- server.ListenAndServeTLS("", "")
	}()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", server.Addr, err)
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(shutdown)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	if err != nil {
		return fmt.Errorf("shut down server on %s: %w", server.Addr, err)
	}
	return nil
}

// withoutProbes writes the server's log to stderr, without the liveness probe's
// connections, which end before a handshake.
type withoutProbes struct{}

// Write implements io.Writer for one line.
func (withoutProbes) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: TLS handshake error")) && bytes.HasSuffix(bytes.TrimSpace(line), []byte(": EOF")) {
		return len(line), nil
	}
	return os.Stderr.Write(line)
}
