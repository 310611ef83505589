package simulator

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

// Packages lists the packages that can be served, sorted.
func Packages() []string { return slices.Sorted(maps.Keys(catalog.Packages())) }

// Servers are running provider servers.
type Servers struct {
	Account *record.Account // what the servers know from requests so far

	ports   map[string]int // by package
	checks  *checkLog
	grpc    []*grpc.Server
	running sync.WaitGroup
	stop    sync.Once

	mu   sync.Mutex
	errs []error // why servers stopped early
}

// Environment returns the value of EnvironmentKey for these servers:
// "aws:4001,grafana:4002". The engine dials 127.0.0.1.
func (s *Servers) Environment() string {
	var parts []string
	for name, port := range s.ports {
		parts = append(parts, name+":"+strconv.Itoa(port))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// Checked returns the number of resources that were checked.
func (s *Servers) Checked() int { return s.checks.size() }

// Violations returns what the last check of every resource found, sorted and
// prefixed with the resource's URN.
func (s *Servers) Violations() []string { return s.checks.all() }

// Close stops the servers and waits for them. It returns the errors with which
// servers stopped before.
func (s *Servers) Close() error {
	s.stop.Do(func() {
		for _, g := range s.grpc {
			g.Stop()
		}
	})
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// Listen serves every package, each on a free port of 127.0.0.1.
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

// Serve serves packages on TCP listeners, by package name. If any option is
// invalid, it reports all that are and serves nothing.
func Serve(listeners map[string]net.Listener, o Options) (*Servers, error) {
	packages := catalog.Packages()
	ports, err := validate(packages, listeners, o)
	if err != nil {
		return nil, err
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	out := &Servers{
		Account: record.NewAccount(o.Region, o.AccountID),
		ports:   ports,
		checks:  &checkLog{violations: map[string][]string{}},
	}
	out.Account.Unoffered = o.Unoffered
	handlers := builtinHandlers(o.Command)
	maps.Copy(handlers, o.Handlers)
	for name, l := range listeners {
		version, err := semver.Parse(packages[name].Version)
		if err != nil {
			return nil, fmt.Errorf("serve provider %s: parse its version: %w", name, err)
		}
		g := grpc.NewServer(rpcutil.OpenTracingServerInterceptorOptions(nil)...)
		pulumirpc.RegisterResourceProviderServer(g, plugin.NewProviderServer(&server{
			pkg: packages[name], version: version, account: out.Account, handlers: handlers, invokes: o.Invokes,
			connectTo: o.Connect, checks: out.checks, acceptViolations: o.AcceptViolations, log: log.With("provider", name),
		}))
		out.grpc = append(out.grpc, g)
		out.running.Go(func() { out.serve(name, g, l) })
	}
	return out, nil
}

func (s *Servers) serve(name string, g *grpc.Server, l net.Listener) {
	if err := g.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errs = append(s.errs, fmt.Errorf("serve provider %s: %w", name, err))
	}
}

// validate checks the arguments of Serve and returns the listeners' ports.
func validate(packages map[string]catalog.Package, listeners map[string]net.Listener, o Options) (map[string]int, error) {
	var errs []error
	ports := map[string]int{}
	for name, l := range listeners {
		if _, ok := packages[name]; !ok {
			errs = append(errs, fmt.Errorf("listener for package %q: unknown package; use one of %s", name, strings.Join(Packages(), ", ")))
		}
		address, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			errs = append(errs, fmt.Errorf(
				"listener for package %q: must be TCP, is %s; the engine attaches by port", name, l.Addr().Network(),
			))
			continue
		}
		ports[name] = address.Port
	}
	for token := range o.Handlers {
		if p := packages[packageOf(token)]; p.Resources[token].Args == nil {
			errs = append(errs, fmt.Errorf("handler for %q: no such resource type in the catalog", token))
		}
	}
	for token := range o.Invokes {
		if p := packages[packageOf(token)]; p.Functions[token].Result == nil {
			errs = append(errs, fmt.Errorf("invoke for %q: no such function in the catalog", token))
		}
	}
	return ports, errors.Join(errs...)
}

// packageOf returns the package in a type or function token.
func packageOf(token string) string {
	name, _, _ := strings.Cut(token, ":")
	return name
}
