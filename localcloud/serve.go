package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/provider"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

// Options say where the region's programs are. All paths are the host's.
type Options struct {
	State        string
	Machined     string
	Applications string // tree of package applications
	JavaHome     string
	Servers      map[string]string // binaries by name: versitygw, tempo, …
}

// cloud is the region's process.
type cloud struct {
	Options
	credentials Credentials
	region      *region.Region
	objects     *s3.Gateway
	store       *emrapi.Store
	clusters    *emr.Service
	kube        *kube.Runner
	ec2         *ec2.Service
	log         *slog.Logger

	mu      sync.Mutex
	targets map[string]string // service name -> address inside the region
}

// Serve is the region's process: it opens the network, starts S3, EMR's API and
// the providers, restores what ran before, says that it is up, and stays until
// it is ended.
func Serve(ctx context.Context, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	listeners, up, err := region.Inherited()
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(o.State, "region.lock"))
	if free, err := lock.TryLock(); err != nil || !free {
		return fmt.Errorf("another local cloud runs in %s (%w)", o.State, err)
	}
	// Held to the end: unreferenced, the file would be closed when collected.
	defer func() { _ = lock.Unlock() }()
	c := &cloud{Options: o, log: slog.New(slog.NewTextHandler(os.Stderr, nil)), targets: map[string]string{}}
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.region.StopAll()
	api, err := c.serveEMR()
	if err != nil {
		return err
	}
	servers, err := c.serveProviders(listeners)
	if err != nil {
		return err
	}
	defer servers.Close()
	for name := range ports {
		switch name {
		case portEMR:
			go c.serve(listeners[name], api)
		case portControl:
			go c.serve(listeners[name], c.control())
		default:
			go machine.Relay(listeners[name], c.dial(name))
		}
	}
	if err := c.ec2.Open(ctx); err != nil {
		return err
	}
	c.restoreWorkloads(ctx)
	go c.clusters.WatchIdle(ctx)
	if err := up(); err != nil {
		return err
	}
	c.log.Info("the local cloud is up", "state", o.State)
	<-ctx.Done()
	return nil
}

// restoreWorkloads starts the pods that are not up. One that is not ready in
// time is told of and kept back no further: up must not wait for it.
func (c *cloud) restoreWorkloads(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := c.kube.Restore(ctx); err != nil {
		c.log.Error("restore workloads", "error", err)
	}
}

// open raises the network, S3 and the stores.
func (c *cloud) open(ctx context.Context) error {
	var err error
	if c.credentials, err = LoadCredentials(c.State); err != nil {
		return err
	}
	if c.region, err = region.Open(filepath.Join(c.State, "machines"), c.Machined, networkGateway+"/16", servicesHost+"/16", podsGateway+"/24"); err != nil {
		return err
	}
	c.objects, err = s3.Start(ctx, c.Servers["versitygw"], filepath.Join(c.State, "s3"), servicesHost+":7070", AWSRegion, c.credentials.AccessKeyID, c.credentials.SecretAccessKey, os.Stderr)
	if err != nil {
		return err
	}
	c.expose(portS3, c.objects.Address)
	if c.store, err = emrapi.Open(filepath.Join(c.State, "emr")); err != nil {
		return err
	}
	c.ec2 = &ec2.Service{
		Region: c.region, Dir: filepath.Join(c.State, "ec2"), Applications: c.Applications, Machined: c.Machined,
		AWSRegion: AWSRegion, AccountID: AccountID, Gateway: networkGateway, Prefix: 16, Extra: []string{podsPrefix + ".2/24"},
		Env:         map[string]string{"AWS_ENDPOINT_URL_S3": c.objects.Endpoint(), "AWS_ENDPOINT_URL_SSM": "http://" + servicesHost + ":7073", "AWS_DEFAULT_REGION": AWSRegion},
		AccessKeyID: c.credentials.AccessKeyID, SecretKey: c.credentials.SecretAccessKey, PrepareCLI: applications.WriteCLI, Log: c.log,
	}
	c.clusters = &emr.Service{
		Region: c.region, Store: c.store, Objects: c.objects, Applications: c.Applications, JavaHome: c.JavaHome,
		AWSRegion: AWSRegion, AccountID: AccountID, Gateway: networkGateway, Address: c.ec2.NodeAddress, Expose: c.expose, Clock: clock.RealClock{}, Log: c.log,
	}
	if err := c.clusters.EndLost(); err != nil {
		return err
	}
	c.kube = &kube.Runner{
		Region: c.region, Dir: filepath.Join(c.State, "kube"), Memory: "/run/kube", Key: c.credentials.Passphrase, Images: c.images(), Prepare: applications.WriteCLI,
		Binds: []machine.Bind{{From: c.Applications, To: applications.Mount, ReadOnly: true}},
		Env:   map[string]string{"AWS_ENDPOINT_URL_S3": c.objects.Endpoint()},
		Pods:  podsPrefix, Gateway: podsGateway, Control: c.ec2.Control, Log: c.log,
		Expose: func(workload string, port int32, address string) { c.exposeWorkload(workload, port, address) },
	}
	return c.kube.Open()
}

func (c *cloud) serveEMR() (http.Handler, error) {
	api, err := emrapi.New(c.store, c.clusters, c.clusters, c.log)
	if err != nil {
		return nil, err
	}
	inside, err := net.Listen("tcp", servicesHost+":7071")
	if err != nil {
		return nil, err
	}
	go c.serve(inside, api)
	parameters, err := net.Listen("tcp", servicesHost+":7073")
	if err != nil {
		return nil, err
	}
	go c.serve(parameters, c.ec2.Parameters())
	return api, nil
}

func (c *cloud) serveProviders(listeners map[string]net.Listener) (*provider.Servers, error) {
	mine := map[string]net.Listener{}
	for _, p := range Packages() {
		mine[p] = listeners[providerPort(p)]
	}
	return provider.Serve(mine, provider.Options{Region: AWSRegion, AccountID: AccountID, Handlers: c.handlers(), Log: c.log})
}

func (c *cloud) serve(l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	if err := server.Serve(l); err != nil {
		c.log.Error("serve", "address", l.Addr(), "error", err)
	}
}

// expose leads a service's port on the host to an address inside.
func (c *cloud) expose(name, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.targets[name] = address
}

// exposeWorkload exposes a pod's first port; the collector's is OTLP over gRPC.
func (c *cloud) exposeWorkload(workload string, _ int32, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := ports[workload]; known && c.targets[workload] == "" {
		c.targets[workload] = address
	}
}

func (c *cloud) dial(name string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		c.mu.Lock()
		to := c.targets[name]
		c.mu.Unlock()
		if to == "" {
			return nil, fmt.Errorf("%s does not run", name)
		}
		d := net.Dialer{Timeout: 5 * time.Second}
		return d.DialContext(ctx, "tcp", to)
	}
}

// control answers the CLI: what runs here.
func (c *cloud) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /workloads", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c.kube.Statuses(r.Context()))
	})
	return mux
}
