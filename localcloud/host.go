package localcloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Running describes a local cloud that is up.
type Running struct {
	PID       int               `json:"pid"`
	Started   time.Time         `json:"started"`
	Addresses map[string]string `json:"addresses"` // 127.0.0.1:port by service
	CABundle  string            `json:"caBundle"`  // file with the certificate of its authority
	Fresh     bool              `json:"-"`         // Start started it; it was not up before
}

// URL returns a service's http URL on the host, or "".
func (r Running) URL(service string) string {
	if a, ok := r.Addresses[service]; ok {
		return "http://" + a
	}
	return ""
}

// DebugProviders returns the value of PULUMI_DEBUG_PROVIDERS with which the engine
// attaches to this cloud's providers.
func (r Running) DebugProviders() string {
	pairs := make([]string, 0, len(Packages()))
	for _, p := range Packages() {
		_, port, _ := net.SplitHostPort(r.Addresses[providerService(p)])
		pairs = append(pairs, p+":"+port)
	}
	sort.Strings(pairs)
	return strings.Join(pairs, ",")
}

// Environment returns the variables that point an AWS SDK or CLI at this cloud.
// AWS_CA_BUNDLE is for clients of presigned URLs: the endpoints have no TLS.
func (r Running) Environment(c Credentials) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL_S3":       r.URL(ServiceS3),
		"AWS_ENDPOINT_URL_EMR":      r.URL(ServiceEMR),
		"AWS_ENDPOINT_URL_IAM":      r.URL(ServiceIAM),
		"AWS_CA_BUNDLE":             r.CABundle,
		"AWS_REGION":                AWSRegion,
		"AWS_DEFAULT_REGION":        AWSRegion, // the only one that boto3 and the AWS CLI read
		"AWS_ACCESS_KEY_ID":         c.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY":     c.SecretAccessKey,
		"AWS_EC2_METADATA_DISABLED": "true",
	}
}

func runningFile(state string) string { return filepath.Join(state, "region.json") }

// regionLock returns the lock that the region's process holds as long as it runs.
func regionLock(state string) *flock.Flock { return flock.New(filepath.Join(state, "region.lock")) }

// ErrDown reports that no local cloud runs in a state folder.
var ErrDown = errors.New("the local cloud is not running: start it with `observatory up`")

// Find returns the local cloud that runs in a state folder, or ErrDown.
func Find(state string) (Running, error) {
	raw, err := os.ReadFile(runningFile(state))
	if errors.Is(err, os.ErrNotExist) {
		return Running{}, ErrDown
	}
	if err != nil {
		return Running{}, fmt.Errorf("find the local cloud: %w", err)
	}
	var r Running
	if err := json.Unmarshal(raw, &r); err != nil {
		return Running{}, fmt.Errorf("find the local cloud: %s: %w", runningFile(state), err)
	}
	// The region's process holds the lock. Another process may have reused its id.
	lock := regionLock(state)
	free, err := lock.TryLock()
	if err != nil {
		return Running{}, fmt.Errorf("find the local cloud: lock %s: %w", lock.Path(), err)
	}
	if free {
		_ = lock.Unlock()
		return Running{}, ErrDown
	}
	return r, nil
}

// Start returns the local cloud of a state folder, and starts it if it is down.
// machined is the path of that binary. argv is the command of the region's process,
// which calls Serve.
func Start(_ context.Context, state, machined string, argv []string) (Running, error) {
	if r, err := Find(state); !errors.Is(err, ErrDown) {
		return r, err
	}
	r, err := start(state, machined, argv)
	if err != nil {
		return Running{}, fmt.Errorf("start the local cloud: %w", err)
	}
	return r, nil
}

func start(state, machined string, argv []string) (Running, error) {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return Running{}, err
	}
	if err := ensureAuthority(state); err != nil {
		return Running{}, err
	}
	listeners, addresses, err := listen()
	if err != nil {
		return Running{}, err
	}
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	log, err := os.OpenFile(filepath.Join(state, "region.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return Running{}, err
	}
	defer log.Close()
	pid, err := region.Spawn(machined, argv, listeners, log, 5*time.Minute) // it restores the workloads first
	if err != nil {
		return Running{}, err
	}
	r := Running{PID: pid, Started: time.Now(), Addresses: addresses, CABundle: AuthorityFile(state), Fresh: true}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return Running{}, err
	}
	return r, os.WriteFile(runningFile(state), raw, 0o600)
}

// listen opens a port for every service on the host's 127.0.0.1: the preferred
// one, or any free one if that is taken.
func listen() (map[string]net.Listener, map[string]string, error) {
	ports := hostPorts()
	for _, p := range Packages() {
		ports[providerService(p)] = 0
	}
	listeners, addresses := map[string]net.Listener{}, map[string]string{}
	for name, port := range ports {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			l, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("open a port for %s: %w", name, err)
		}
		listeners[name], addresses[name] = l, l.Addr().String()
	}
	return listeners, addresses, nil
}

// Stop kills the local cloud of a state folder with everything that runs in it.
// Its files stay. It does nothing if the cloud is down.
func Stop(ctx context.Context, state string) error {
	r, err := Find(state)
	if errors.Is(err, ErrDown) {
		return nil
	}
	if err != nil {
		return err
	}
	// The process is the init of a process namespace, so the kernel kills the rest.
	if err := syscall.Kill(r.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the local cloud (process %d): %w", r.PID, err)
	}
	err = poll.Until(ctx, poll.Options{Interval: 20 * time.Millisecond}, func(context.Context) error {
		if _, err := Find(state); !errors.Is(err, ErrDown) {
			return errors.New("its lock is still held")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("stop the local cloud (process %d): not stopped %w", r.PID, err)
	}
	if err := os.Remove(runningFile(state)); err != nil {
		return fmt.Errorf("stop the local cloud: %w", err)
	}
	return nil
}
