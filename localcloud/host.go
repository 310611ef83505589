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

	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Running describes a local cloud that is up.
type Running struct {
	PID       int               `json:"pid"`
	Started   time.Time         `json:"started"`
	Addresses map[string]string `json:"addresses"` // service name -> 127.0.0.1:port
	Fresh     bool              `json:"-"`         // Start made it; it was not up before
}

// URL is a service's http URL on the host; empty if there is none.
func (r Running) URL(service string) string {
	if a, ok := r.Addresses[service]; ok {
		return "http://" + a
	}
	return ""
}

// DebugProviders is the value of PULUMI_DEBUG_PROVIDERS that attaches the
// engine to this cloud's providers.
func (r Running) DebugProviders() string {
	pairs := make([]string, 0, len(Packages()))
	for _, p := range Packages() {
		_, port, _ := net.SplitHostPort(r.Addresses[providerPort(p)])
		pairs = append(pairs, p+":"+port)
	}
	sort.Strings(pairs)
	return strings.Join(pairs, ",")
}

// Environment is what an AWS SDK or CLI needs to talk to this cloud instead of
// AWS.
func (r Running) Environment(c Credentials) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL_S3": r.URL(portS3), "AWS_ENDPOINT_URL_EMR": r.URL(portEMR), "AWS_REGION": AWSRegion,
		"AWS_DEFAULT_REGION": AWSRegion, // boto3 and the AWS CLI know no other
		"AWS_ACCESS_KEY_ID":  c.AccessKeyID, "AWS_SECRET_ACCESS_KEY": c.SecretAccessKey, "AWS_EC2_METADATA_DISABLED": "true",
	}
}

func runningFile(state string) string { return filepath.Join(state, "region.json") }

// ErrDown says that no local cloud runs in a state folder.
var ErrDown = errors.New("the local cloud is not running: start it with `observatory up`")

// Find gives the local cloud that runs in a state folder, or ErrDown.
func Find(state string) (Running, error) {
	raw, err := os.ReadFile(runningFile(state))
	if errors.Is(err, os.ErrNotExist) {
		return Running{}, ErrDown
	}
	if err != nil {
		return Running{}, err
	}
	var r Running
	if err := json.Unmarshal(raw, &r); err != nil {
		return Running{}, fmt.Errorf("%s: %w", runningFile(state), err)
	}
	// The region holds this lock for its life, so a reused process id does not
	// pass for it.
	lock := flock.New(filepath.Join(state, "region.lock"))
	free, err := lock.TryLock()
	if err != nil {
		return Running{}, err
	}
	if free {
		_ = lock.Unlock()
		return Running{}, ErrDown
	}
	return r, nil
}

// Start gives the local cloud of a state folder, starting it if it is not up.
// machined and argv are the programs of the region: argv's program calls Serve.
func Start(_ context.Context, state, machined string, argv []string) (Running, error) {
	if r, err := Find(state); !errors.Is(err, ErrDown) {
		return r, err
	}
	if err := os.MkdirAll(state, 0o755); err != nil {
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
	pid, err := region.Spawn(machined, argv, listeners, log, 2*time.Minute)
	if err != nil {
		return Running{}, err
	}
	r := Running{PID: pid, Started: time.Now(), Addresses: addresses, Fresh: true}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return Running{}, err
	}
	return r, os.WriteFile(runningFile(state), raw, 0o600)
}

// listen opens every service's port on 127.0.0.1 of the host.
func listen() (map[string]net.Listener, map[string]string, error) {
	want := map[string]int{}
	for name, p := range ports {
		want[name] = p
	}
	for _, p := range Packages() {
		want[providerPort(p)] = 0
	}
	listeners, addresses := map[string]net.Listener{}, map[string]string{}
	for name, p := range want {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
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

// Stop ends the local cloud of a state folder and everything that runs in it.
// Its files stay. A cloud that is not up is not an error.
func Stop(ctx context.Context, state string) error {
	r, err := Find(state)
	if errors.Is(err, ErrDown) {
		return nil
	}
	if err != nil {
		return err
	}
	// Its process is the init of a process namespace: the kernel ends all of it.
	if err := syscall.Kill(r.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end the local cloud (process %d): %w", r.PID, err)
	}
	for {
		if _, err := Find(state); errors.Is(err, ErrDown) {
			return os.Remove(runningFile(state))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the local cloud (process %d) does not end: %w", r.PID, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
