package provider

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/record"
)

// Packages gives the names of the packages that can be served, sorted.
func Packages() []string {
	var names []string
	for name := range catalog.Packages() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Servers are running provider servers.
type Servers struct {
	Account *record.Account // what the engine has shown so far

	ports   map[string]int
	journal *journal
	grpc    []*grpc.Server
	done    sync.WaitGroup
	once    sync.Once

	mu     sync.Mutex
	failed []error
}

// EnvironmentKey is the variable by which the engine attaches to providers
// that already run.
const EnvironmentKey = "PULUMI_DEBUG_PROVIDERS"

// EngineEnvironment is what an engine needs that works with these providers:
// attached is EnvironmentKey's value, backend a folder. It does not look for a
// newer self, nor does it try for seconds to fetch the providers of AWS.
func EngineEnvironment(attached, backend, passphrase string) map[string]string {
	return map[string]string{
		EnvironmentKey:                                attached,
		"PULUMI_BACKEND_URL":                          "file://" + backend,
		"PULUMI_CONFIG_PASSPHRASE":                    passphrase,
		"PULUMI_SKIP_UPDATE_CHECK":                    "true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
	}
}

// Environment is the value of EnvironmentKey for these servers:
// "aws:4001,grafana:4002". The engine dials 127.0.0.1.
func (s *Servers) Environment() string {
	var parts []string
	for name, port := range s.ports {
		parts = append(parts, name+":"+strconv.Itoa(port))
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

// Checked gives how many resources the engine has had checked so far.
func (s *Servers) Checked() int { return s.journal.size() }

// Faults gives every fault that the last check of a resource found, with the
// resource's URN before it, sorted.
func (s *Servers) Faults() []string { return s.journal.faults() }

// Close ends the servers and waits for them. It gives what made one of them
// end before, if anything did.
func (s *Servers) Close() error {
	s.once.Do(func() {
		for _, g := range s.grpc {
			g.Stop()
		}
	})
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.failed...)
}

// Listen serves every package on a free port of 127.0.0.1.
func Listen(o Options) (*Servers, error) {
	listeners := map[string]net.Listener{}
	for _, name := range Packages() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return nil, fmt.Errorf("listen for provider %s: %w", name, err)
		}
		listeners[name] = l
	}
	return Serve(listeners, o)
}

// Serve serves packages on TCP listeners, by package name. All faults of the
// options are reported at once, and nothing is served then.
func Serve(listeners map[string]net.Listener, o Options) (*Servers, error) {
	packages := catalog.Packages()
	if err := validate(packages, listeners, o); err != nil {
		return nil, err
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	out := &Servers{Account: record.NewAccount(o.Region, o.AccountID), ports: map[string]int{}, journal: &journal{lenient: o.KeepGoing, seen: map[string][]string{}}}
	handlers := builtin(o.Command)
	for token, h := range o.Handlers {
		handlers[token] = h
	}
	for name, l := range listeners {
		version, err := semver.Parse(packages[name].Version)
		if err != nil {
			return nil, fmt.Errorf("serve provider %s: %w", name, err)
		}
		s := &server{pkg: packages[name], version: version, account: out.Account, handlers: handlers, invokes: o.Invokes, journal: out.journal, log: log.With("provider", name)}
		g := grpc.NewServer(rpcutil.OpenTracingServerInterceptorOptions(nil)...)
		pulumirpc.RegisterResourceProviderServer(g, plugin.NewProviderServer(s))
		out.ports[name] = l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // validate saw to it
		out.grpc = append(out.grpc, g)
		out.done.Add(1)
		go out.run(name, g, l)
	}
	return out, nil
}

func (s *Servers) run(name string, g *grpc.Server, l net.Listener) {
	defer s.done.Done()
	if err := g.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = append(s.failed, fmt.Errorf("serve provider %s: %w", name, err))
	}
}

func validate(packages map[string]catalog.Package, listeners map[string]net.Listener, o Options) error {
	var faults []error
	for name, l := range listeners {
		if _, ok := packages[name]; !ok {
			faults = append(faults, fmt.Errorf("listener for package %q: unknown; packages are %s", name, strings.Join(Packages(), ", ")))
		}
		if _, ok := l.Addr().(*net.TCPAddr); !ok {
			faults = append(faults, fmt.Errorf("listener for package %q: must be TCP, is %s; the engine attaches by port", name, l.Addr().Network()))
		}
	}
	for token := range o.Handlers {
		if p := packages[packageOf(token)]; p.Resources[token].Args == nil {
			faults = append(faults, fmt.Errorf("handler for %q: no such resource type in the catalog", token))
		}
	}
	for token := range o.Invokes {
		if p := packages[packageOf(token)]; p.Functions[token].Result == nil {
			faults = append(faults, fmt.Errorf("invoke for %q: no such function in the catalog", token))
		}
	}
	return errors.Join(faults...)
}

func packageOf(token string) string {
	name, _, _ := strings.Cut(token, ":")
	return name
}
