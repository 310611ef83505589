package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/operator"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/localcloud/scheduler"
	"github.com/emr-observatory/emr-observatory/localcloud/sqs"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/command"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// Options are the paths of the region's state and programs, all on the host.
type Options struct {
	State        string
	Machined     string
	Applications string // tree of package applications
	JavaHome     string
	Servers      map[string]string // binaries by name, as package servers lists them
	Grafana      GrafanaServer
	LogDelay     time.Duration // see emr.Service

	EventLogInterval time.Duration // see emr.Service
}

// cloud is the state of the region's process.
type cloud struct {
	Options
	credentials Credentials
	region      *region.Region
	internet    *internet.Internet
	objects     *s3.Gateway
	store       *emrapi.Store
	clusters    *emr.Service
	emr         emr.Resources
	kube        *kube.Runner
	schedules   *scheduler.Service
	queues      *sqs.Service
	ec2         *ec2.Service
	log         *slog.Logger

	mu      sync.Mutex
	targets map[string]string // address in the region by service
}

// Serve runs the region's process: it opens the network, starts S3, EMR's API
// and the providers, restores what ran before, reports that it is up, and
// returns when it is terminated.
func Serve(ctx context.Context, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	listeners, up, err := region.Inherited()
	if err != nil {
		return fmt.Errorf("serve the local cloud: %w", err)
	}
	lock := regionLock(o.State)
	if free, err := lock.TryLock(); err != nil || !free {
		return fmt.Errorf("another local cloud runs in %s (%w)", o.State, err)
	}
	// The reference keeps the garbage collector from closing the lock's file.
	defer func() { _ = lock.Unlock() }()
	c := &cloud{Options: o, log: slog.New(slog.NewTextHandler(os.Stderr, nil)), targets: map[string]string{}}
	if err := c.run(ctx, listeners, up); err != nil {
		return fmt.Errorf("serve the local cloud: %w", err)
	}
	return nil
}

func (c *cloud) run(ctx context.Context, listeners map[string]net.Listener, up func() error) error {
	if err := c.open(ctx, listeners[ServiceAppUI].Addr().String()); err != nil {
		return err
	}
	defer c.region.StopAll()
	api, err := c.serveAPIs()
	if err != nil {
		return err
	}
	providers, err := c.serveProviders(listeners)
	if err != nil {
		return err
	}
	defer providers.Close()
	for name := range hostPorts() {
		switch name {
		case ServiceEMR:
			go c.serve(listeners[name], api)
		case ServiceIAM:
			go c.serve(listeners[name], c.iamAPI())
		case ServiceAppUI:
			if err := c.serveUIs(listeners[name]); err != nil {
				return err
			}
		case ServiceControl:
			go c.serve(listeners[name], c.controlAPI())
		case string(platform.WorkloadStatus):
			go c.serve(listeners[name], c.statusPage(listeners))
		case string(platform.WorkloadTools):
			go machine.Relay(listeners[name], c.dialControlNode(platform.Tools))
		case string(platform.WorkloadGrafana):
			go c.serve(listeners[name], forwarder.New(c.grafanaServer()))
		default:
			go machine.Relay(listeners[name], c.dial(name))
		}
	}
	if err := c.ec2.Open(ctx); err != nil {
		return err
	}
	c.restoreWorkloads(ctx)
	go c.clusters.WatchIdle(ctx)
	go c.clusters.WatchScaling(ctx)
	go c.clusters.WatchEventLogs(ctx)
	go c.schedules.Watch(ctx)
	if err := up(); err != nil {
		return err
	}
	c.log.Info("the local cloud is up", "state", c.State)
	<-ctx.Done()
	return nil
}

// restoreWorkloads starts the pods that are not running. A pod that does not become
// ready is logged only; up waits three minutes at most.
func (c *cloud) restoreWorkloads(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := c.kube.Restore(ctx); err != nil {
		c.log.Error("restore workloads", "error", err)
	}
}

// open opens the network, S3 and the state of each service. uiAddress is the host's,
// of the UIs of clusters.
func (c *cloud) open(ctx context.Context, uiAddress string) error {
	var err error
	if c.credentials, err = LoadCredentials(c.State); err != nil {
		return err
	}
	c.region, err = region.Open(filepath.Join(c.State, "machines"), c.Machined,
		cidr(networkGateway, networkPrefix), cidr(servicesHost, networkPrefix), cidr(podsGateway, podsPrefixLen))
	if err != nil {
		return err
	}
	if c.internet, err = internet.Open(); err != nil {
		return err
	}
	c.objects, err = s3.Start(ctx, s3.Options{
		Binary: c.Servers[servers.VersityGW], Dir: filepath.Join(c.State, "s3"), Address: serviceAddress(portS3), Region: AWSRegion,
		AccessKey: c.credentials.AccessKeyID, SecretKey: c.credentials.SecretAccessKey, Log: os.Stderr,
	})
	if err != nil {
		return err
	}
	c.expose(ServiceS3, c.objects.Address)
	if c.store, err = emrapi.Open(filepath.Join(c.State, "emr")); err != nil {
		return err
	}
	c.store.Account = emrapi.Account{Region: AWSRegion, ID: AccountID}
	if err := c.openSchedules(); err != nil {
		return err
	}
	c.ec2 = c.newEC2()
	c.clusters = c.newEMR(uiAddress)
	c.emr = c.newEMRResources()
	if c.kube, err = c.newKube(uiAddress); err != nil {
		return err
	}
	if err := c.clusters.TerminateLost(); err != nil {
		return err
	}
	return c.kube.Open()
}

func (c *cloud) newEC2() *ec2.Service {
	return &ec2.Service{
		Region: c.region, Dir: filepath.Join(c.State, "ec2"), Applications: c.Applications, Machined: c.Machined,
		AWSRegion: AWSRegion, AccountID: AccountID, Gateway: networkGateway, Prefix: networkPrefix,
		Extra: []string{cidr(podsHost, podsPrefixLen)},
		Env: map[string]string{
			"AWS_ENDPOINT_URL_S3":  c.objects.Endpoint(),
			"AWS_ENDPOINT_URL_SSM": "http://" + serviceAddress(portSSM),
			"AWS_DEFAULT_REGION":   AWSRegion,
		},
		Credentials: c.roleCredentials, PrepareCLI: applications.WriteCLI, Map: c.internet.Map, Log: c.log,
	}
}

// connectTimeout is how long providers try to connect to the control node. The
// program's gate has waited for its first boot, but this machine may be busy.
const connectTimeout = time.Minute

// serveProviders serves the engine's providers. Their commands run on the workstation,
// and from there they connect to the control node.
func (c *cloud) serveProviders(listeners map[string]net.Listener) (*simulator.Servers, error) {
	byPackage := map[string]net.Listener{}
	for _, p := range Packages() {
		byPackage[p] = listeners[providerService(p)]
	}
	return simulator.Serve(byPackage, simulator.Options{
		Region: AWSRegion, AccountID: AccountID, Handlers: c.handlers(), Log: c.log,
		Command: command.Shell{Start: c.internet.Start},
		Invokes: map[string]simulator.Invoke{"aws:s3/getObject:getObject": c.lookupObject},
		Connect: operator.Connector{Dial: c.internet.Dial, Timeout: connectTimeout}.Connect,
	})
}

func (c *cloud) serve(l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	if err := server.Serve(l); err != nil {
		c.log.Error("serve", "address", l.Addr(), "error", err)
	}
}

// expose forwards a service's port on the host to an address in the region.
func (c *cloud) expose(service, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.targets[service] = address
}

// exposeWorkload forwards a workload's port on the host to its pod, if it is the
// port that operators use.
func (c *cloud) exposeWorkload(workload string, port int32, address string) {
	if platform.Workloads().OperatorPorts()[platform.Workload(workload)] == platform.Port(port) {
		c.expose(workload, address)
	}
}

// dial returns a function that connects to a service in the region, past the VPC's
// borders: on AWS nobody outside reaches these services.
func (c *cloud) dial(service string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		c.mu.Lock()
		to := c.targets[service]
		c.mu.Unlock()
		if to == "" {
			return nil, fmt.Errorf("%s does not run", service)
		}
		d := net.Dialer{Timeout: 5 * time.Second}
		return d.DialContext(ctx, "tcp", to)
	}
}

// dialControlNode returns a function that connects to a port of the control node as an
// operator's client does: from the workstation to the public address.
func (c *cloud) dialControlNode(port platform.Port) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		address, err := c.controlNodeAddress(port)
		if err != nil {
			return nil, err
		}
		return c.internet.Dial(ctx, "tcp", address)
	}
}

// controlNodeAddress is where the workstation finds a port of the control node.
func (c *cloud) controlNodeAddress(port platform.Port) (string, error) {
	address, err := c.ec2.PublicAddress()
	if err != nil {
		return "", fmt.Errorf("find the control node: %w", err)
	}
	return netip.AddrPortFrom(address, uint16(port)).String(), nil
}

// controlAPI serves the state of the workloads, for the CLI.
func (c *cloud) controlAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /workloads", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c.kube.Statuses(r.Context()))
	})
	return mux
}
