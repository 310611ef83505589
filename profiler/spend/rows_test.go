package spend_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/spend"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

const (
	hour    = int64(3_600_000)
	started = int64(1_700_000_000_000) - 1_700_000_000_000%hour
)

// A cluster of a primary and two workers for an hour, with an application that has both workers
// for half an hour.
func cluster() spend.Cluster {
	instance := func(id, host, role, market string) tables.Instance {
		return tables.Instance{
			InstanceID: id, Host: host, Group: "ig-" + role, Role: role, InstanceType: "m5.xlarge", Market: market,
			CreatedTime: started, EndTime: started + hour,
		}
	}
	executor := func(id, host string) spend.Executor {
		return spend.Executor{ID: id, Host: host, Cores: 4, Added: started + 6_000}
	}
	return spend.Cluster{
		ID: tables.Cluster{Region: "us-east-1", ClusterID: "j-1"},
		Instances: []tables.Instance{
			instance("i-1", "ip-1", "master", "ON_DEMAND"), instance("i-2", "ip-2", "core", "ON_DEMAND"), instance("i-3", "ip-3", "task", "SPOT"),
		},
		Groups: []tables.Cost{{Group: "ig-master", Role: "master", InstanceType: "m5.xlarge", Market: "ON_DEMAND"}},
		Applications: []spend.Application{{
			Row: tables.Application{
				Attempt:         tables.Attempt{ApplicationID: "application_1_0001"},
				ApplicationName: "etl", StartTime: started, EndTime: started + hour/2, DeployMode: new("client"),
			},
			Executors: []spend.Executor{executor("driver", "ip-1"), executor("1", "ip-2"), executor("2", "ip-3")},
		}},
		Now: started + 2*hour,
	}
}

func total(t *testing.T, rows []tables.ApplicationCost) (usd float64) {
	t.Helper()
	for _, row := range rows {
		require.NotNil(t, row.USD, row.Kind)
		usd += *row.USD
	}
	return usd
}

// m5.xlarge costs 0.192 USD an hour and EMR's fee 0.048 (AWS, us-east-1).
func TestRowsOfACluster(t *testing.T) {
	costs, rows := cluster().Rows()
	require.Len(t, costs, 3)
	price, _ := facts.PriceOf("us-east-1", "m5.xlarge")
	spot := 0.192*(1-price.SpotDiscount) + 0.048
	require.InDelta(t, 0.24, *costs[0].USD, 1e-6)
	require.EqualValues(t, 3600, *costs[0].InstanceSeconds)
	require.InDelta(t, spot, *costs[2].USD, 1e-3)
	require.Equal(t, "2026-07-20", *costs[0].PriceDate)

	require.Equal(t, []string{tables.CostApplication, tables.CostIdle, tables.CostPrimary}, []string{rows[0].Kind, rows[1].Kind, rows[2].Kind})
	require.InDelta(t, 0.24+0.24+spot, total(t, rows), 1e-3)
	require.InDelta(t, 0.24, *rows[2].USD, 1e-6)
	require.Nil(t, rows[2].CoreHours)
	held := (0.24 + spot) * (0.5 - 6./3600)
	require.Greater(t, *rows[0].USD, held, "the application master takes part in what is free")
	require.Less(t, *rows[0].USD, held*1.01)
	require.InDelta(t, 8*(0.5-6./3600)+0.5, *rows[0].CoreHours, 1e-6)
	require.Equal(t, tables.BasisExecutors, rows[0].Basis)
	require.InDelta(t, spot*(0.5-6./3600), *rows[0].SpotUSD, 1e-3)
}

// YARN counts a container from its allocation on, and either its cores or the container.
func TestYARNsAccounting(t *testing.T) {
	seconds := hour / 2 / 1000
	for name, test := range map[string]struct {
		vcoreSeconds int64
		coreHours    float64
		start        tables.Millis
	}{
		"cores":                            {9*seconds + 9*2 - 8*6, 9*0.5 + (9*2-8*6)/3600., started - 2_000},
		"containers":                       {3*seconds + 3*2 - 2*6, 9*0.5 + (9*2-8*6)/3600., started - 2_000},
		"less than the history":            {9*seconds - 8*6 - 100, 9*0.5 - 8*6/3600., started},
		"a history with gaps":              {20 * seconds, 9*0.5 + (9*120-8*6)/3600., started - 120_000},
		"an application that died at once": {0, 9*0.5 - 8*6/3600., started},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster()
			c.Instances[1].CreatedTime, c.Instances[2].CreatedTime = started-hour, started-hour
			c.Usage = map[string]source.Usage{"application_1_0001": {
				ApplicationID: "application_1_0001", MasterHost: "ip-2", VCoreSeconds: test.vcoreSeconds, MiBSeconds: 3 * 1024 * seconds,
				Started: started, Finished: started + hour/2,
			}}
			_, rows := c.Rows()
			require.InDelta(t, test.coreHours, *rows[0].CoreHours, 1e-3)
			require.Equal(t, test.start, rows[0].StartTime)
			require.Equal(t, tables.BasisYARN, rows[0].Basis)
			require.Equal(t, test.vcoreSeconds, *rows[0].VCoreSeconds)
		})
	}
}

// What YARN ran and the profiler did not read has its part, too.
func TestApplicationsThatWereNotRead(t *testing.T) {
	c := cluster()
	before, _ := c.Rows()
	c.Usage = map[string]source.Usage{"application_1_0002": {
		ApplicationID: "application_1_0002", Name: "hive", VCoreSeconds: 4 * 1800, Started: started + hour/2, Finished: started + hour,
	}}
	costs, rows := c.Rows()
	require.Equal(t, before, costs)
	require.Len(t, rows, 4)
	require.Equal(t, "hive", rows[1].ApplicationName)
	require.InDelta(t, 2, *rows[1].CoreHours, 1e-9)
	require.InDelta(t, total(t, rows[1:3])/2, *rows[1].USD, 0.01, "half of the two workers for half of the time")
}

func TestClustersThatLackSomething(t *testing.T) {
	c := cluster()
	c.Instances[1].InstanceType = "m99.xlarge"
	costs, rows := c.Rows()
	require.Nil(t, costs[1].USD)
	require.EqualValues(t, 3600, *costs[1].InstanceSeconds)
	require.NotNil(t, costs[0].USD)
	for _, row := range rows {
		require.Nil(t, row.USD, "not a part of what it cost")
		require.Nil(t, row.PriceDate)
	}

	c = cluster()
	c.Instances = nil
	costs, rows = c.Rows()
	require.Equal(t, c.Groups, costs, "nothing is known of the instances")
	require.Empty(t, rows)

	c = cluster() // of one node that still runs
	c.Instances, c.Instances[0].EndTime = c.Instances[:1], 0
	costs, rows = c.Rows()
	require.Len(t, rows, 2)
	require.InDelta(t, 2*0.24, total(t, rows), 1e-6)
	require.EqualValues(t, 2*3600, *costs[0].InstanceSeconds)

	for now, want := range map[int64]int64{ // full hours, and what an application adds
		started + hour/4: 900, started + hour*3/4: 1800, started + 2*hour - 1: 3600, started + 3*hour - 1: 7200,
	} {
		c.Now = now
		costs, rows = c.Rows()
		require.Equal(t, want, *costs[0].InstanceSeconds)
		require.InDelta(t, float64(want)/3600*0.24, total(t, rows), 1e-6)
	}
}

// Executors without an end last as long as their attempt: until the next one, and at most until the
// cluster's end.
func TestEndsOfAttempts(t *testing.T) {
	c := cluster()
	first := c.Applications[0]
	first.Row.AttemptID, first.Row.EndTime, first.Row.LastEventTime = "1", 0, started+hour/4
	second := c.Applications[0]
	second.Row.AttemptID, second.Row.StartTime = "2", started+hour/4
	second.Executors = nil
	c.Applications = []spend.Application{second, first}
	c.Usage = map[string]source.Usage{"application_1_0001": {
		ApplicationID: "application_1_0001", VCoreSeconds: 9*900 - 8*6 + 900, MiBSeconds: 1, Started: started, Finished: started + hour/2,
	}}
	_, rows := c.Rows()
	require.Equal(t, []string{"1", "2"}, []string{rows[0].AttemptID, rows[1].AttemptID})
	require.InDelta(t, 8*(0.25-6./3600)+0.25, *rows[0].CoreHours, 1e-3)
	require.InDelta(t, 0.25, *rows[1].CoreHours, 1e-3)

	c = cluster()
	c.Applications[0].Row.EndTime, c.Ended = 0, started+hour // killed with its cluster, and read two days later
	c.Now = started + 48*hour
	costs, rows := c.Rows()
	require.InDelta(t, 8*(1-6./3600)+1, *rows[0].CoreHours, 1e-6)
	require.EqualValues(t, 3600, *costs[0].InstanceSeconds)
}

// 500 nodes, 10,000 applications and 100,000 executors.
func BenchmarkRows(b *testing.B) {
	c := cluster()
	one := c.Instances[1]
	c.Applications = nil
	for i := range 500 {
		one.InstanceID, one.Host = fmt.Sprint("i-", i), fmt.Sprint("ip-", i)
		c.Instances = append(c.Instances, one)
	}
	for i := range 10_000 {
		at := started + int64(i)*300
		a := spend.Application{Row: tables.Application{
			Attempt: tables.Attempt{ApplicationID: fmt.Sprintf("application_1_%05d", i)}, StartTime: at, EndTime: at + 60_000,
		}}
		for x := range 10 {
			a.Executors = append(a.Executors, spend.Executor{ID: fmt.Sprint(x), Host: fmt.Sprint("ip-", (i+x)%500), Cores: 2, Added: at + 5000})
		}
		c.Applications = append(c.Applications, a)
	}
	for b.Loop() {
		c.Rows()
	}
}
