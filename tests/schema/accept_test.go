package schema_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/rules"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// Number of generated configurations in `make test` and in `make test-long`.
const (
	configurations     = 500
	longConfigurations = 10000
)

// TestServicesAcceptEveryValidConfiguration runs the program with random
// configurations that the schema accepts. The simulated providers, which have limits
// of their own, must accept the inputs of every AWS resource.
func TestServicesAcceptEveryValidConfiguration(t *testing.T) {
	n := configurations
	if testenv.Long() {
		n = longConfigurations
	}
	materials := trial.Materials(t)
	c := checker{seen: map[string]bool{}, authority: issuer.Issue(t, time.Now().AddDate(1, 0, 0), "otlp.example.com").Intermediate}
	seeds := make(chan uint64, n)
	for i := range n {
		seeds <- uint64(i)
	}
	close(seeds)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for seed := range seeds {
				c.checkConfiguration(t, seed, materials)
			}
		}()
	}
	workers.Wait()
	t.Logf("%d configurations, %d different resources, %d candidates rejected", n, len(c.seen), c.rejected)
	require.Less(t, c.rejected, 4*n, "the generator creates mostly invalid configurations")
	require.Greater(t, len(c.seen), n, "the configurations are too similar")
	const most = 20
	require.Empty(t, strings.Join(c.findings[:min(most, len(c.findings))], "\n"))
}

// checker collects the providers' findings. Equal resources are checked once.
type checker struct {
	mu       sync.Mutex
	seen     map[string]bool // types and inputs of checked resources
	findings []string
	rejected int // invalid candidates of the generator

	authority string // a CA's certificate, PEM
}

// checkConfiguration checks the resources of the configuration that a seed determines.
func (c *checker) checkConfiguration(t *testing.T, seed uint64, materials stacks.Materials) {
	cfg, rejected := generator{rand.New(rand.NewPCG(seed, 1)), t, c.authority}.config()
	// The other answers are of us-east-1 whatever the region is.
	answers := append(trial.Answers(), recorder.WithFunction(trial.OfferingsFunction, trial.OfferedIn(cfg.Region, "us-east-1")),
		trial.EveryZone(cfg.Region),
		trial.RoutesOf(cfg.Network.PublicSubnetID))
	rec, err := recorder.Run(func(ctx *pulumi.Context) error { return stacks.BuildOnAWS(ctx, cfg, materials) }, answers...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejected += rejected
	if err != nil {
		c.findings = append(c.findings, fmt.Sprintf("seed %d: %v", seed, err))
		return
	}
	for _, r := range rec.Resources {
		if key := r.Type + fmt.Sprint(r.Inputs); !r.Component && !c.seen[key] {
			c.seen[key] = true
			c.checkResource(seed, r, violation.JSON(cfg))
		}
	}
}

// checkResource checks the inputs of a resource or provider.
func (c *checker) checkResource(seed uint64, r recorder.Resource, cfg string) {
	report := func(violation any) {
		c.findings = append(c.findings, fmt.Sprintf("seed %d, %s: %v; configuration %s", seed, r.Name, violation, cfg))
	}
	if r.Type == "pulumi:index:Stash" { // the engine's own
		return
	}
	if strings.HasPrefix(r.Type, "pulumi:providers:") {
		for _, v := range rules.Check(r.Type, r.Inputs) {
			report(v)
		}
		return
	}
	for _, v := range simulator.CheckInputs(r.Type, r.Inputs) {
		report(v)
	}
}

func TestCheckerReportsInvalidInputs(t *testing.T) {
	volume := func(size float64) recorder.Resource {
		return recorder.Resource{Type: "aws:ebs/volume:Volume", Name: "data", Inputs: resource.NewPropertyMapFromMap(map[string]any{
			"type": "standard", "size": size, "availabilityZone": "us-east-1a",
		})}
	}
	var c checker
	c.checkResource(7, volume(1024), "{}")
	require.Empty(t, c.findings)
	c.checkResource(7, volume(1025), "{}")
	require.Len(t, c.findings, 1)
	require.Contains(t, c.findings[0], "seed 7, data: ")
}
