package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// pathsOf returns the paths of what is refused, and of what is warned of.
func pathsOf(cfg schema.Config) (refused, warned []string) {
	var l violation.List
	cfg.Check(&l)
	for _, v := range violation.All(l.Err()) {
		refused = append(refused, v.Path)
	}
	for _, v := range l.Warnings() {
		warned = append(warned, v.Path)
	}
	return refused, warned
}

func withCluster(edits ...clusterEdit) schema.Config {
	var c schema.Cluster
	c.SetDefaults()
	all(edits...)(&c)
	cfg := validConfig()
	cfg.Clusters["etl"] = c
	return cfg
}

func scheduleOf(steps ...schema.Step) schema.Schedule {
	var s schema.Schedule
	s.SetDefaults()
	s.Expression, s.Cluster, s.Steps = "cron(0 2 * * ? *)", "etl", steps
	return s
}

func TestLimitsOfSchedules(t *testing.T) {
	longName := stepWith("true")
	longName.Name = strings.Repeat("n", platform.MaxStepName)
	var long []schema.Step
	for i := range 30 {
		s := stepWith("true", strings.Repeat("x", platform.MaxStepArguments-len("true")))
		s.Name = fmt.Sprint("step ", i)
		long = append(long, s)
	}
	many := map[string]schema.Schedule{}
	for i := range 51 {
		many[fmt.Sprint("s", i)] = scheduleOf(stepWith("true"))
	}
	for want, schedules := range map[string]map[string]schema.Schedule{
		"schedules": many, "schedules.a.steps[0].name": {"a": scheduleOf(longName)}, "schedules.a.steps": {"a": scheduleOf(long...)},
	} {
		cfg := withCluster()
		cfg.Schedules = schedules
		refused, _ := pathsOf(cfg)
		require.Equal(t, []string{want}, refused)
	}
}

func TestTenantsNeedYARN(t *testing.T) {
	refused, _ := pathsOf(withCluster(func(c *schema.Cluster) {
		c.Observe, c.Applications = schema.ObserveHostsOnly, []string{"ZooKeeper"}
		c.Tenants = map[string]schema.Tenant{"sales": {Share: 20, Ceiling: 50}}
	}))
	require.Equal(t, []string{"clusters.etl.tenants"}, refused)
}

// A bid at the price on demand needs a price of the region.
func TestBidsOfTypesWithoutPrice(t *testing.T) {
	regions := []string{"eu-south-2", "ap-southeast-5", "ca-west-1", "me-central-1", "il-central-1", "mx-central-1"}
	at := slices.IndexFunc(regions, func(region string) bool {
		_, known := facts.PriceOf(region, "m5.xlarge")
		return !known
	})
	require.GreaterOrEqual(t, at, 0, "every region has a price of m5.xlarge: name another type")
	cfg := withCluster(func(c *schema.Cluster) { c.Core.BidPrice = schema.BidOnDemand })
	cfg.Region = regions[at]
	refused, _ := pathsOf(cfg)
	require.Contains(t, refused, "clusters.etl.core.bidPrice")
}

// Rules that scale the core group below the copies of HDFS never get there.
func TestScalingBelowHDFSCopies(t *testing.T) {
	_, warned := pathsOf(withCluster(func(c *schema.Cluster) {
		c.Core.Count, c.Core.AutoScaling = 4, &schema.AutoScaling{Min: 1, Max: 8}
	}))
	require.Contains(t, warned, "clusters.etl.core.autoScaling.min")
}
