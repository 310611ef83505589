package spend_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/spend"
)

// A node of 4 cores and 8 GiB that costs a dollar per millisecond, for 100 ms.
func node(host string) spend.Node {
	return spend.Node{Host: host, Cores: 4, MiB: 8192, From: 0, Until: 100, Price: 1}
}

func TestDivide(t *testing.T) {
	spot := node("b")
	spot.Spot, spot.Price = true, 0.5
	for name, test := range map[string]struct {
		nodes      []spend.Node
		containers []spend.Container
		want       []float64 // USD by owner
		idle, core float64
	}{
		"nobody": {[]spend.Node{node("a")}, nil, []float64{}, 100, 400},
		"a quarter of the cores, half of the time": {
			[]spend.Node{node("a")}, []spend.Container{{Host: "a", Cores: 1, From: 0, Until: 50}}, []float64{12.5}, 87.5, 350,
		},
		"memory that fills the node": {
			[]spend.Node{node("a")}, []spend.Container{{Host: "a", Cores: 1, MiB: 8192, From: 0, Until: 100}}, []float64{100}, 0, 0,
		},
		"more cores than the node has": {
			[]spend.Node{node("a")}, []spend.Container{
				{Owner: 0, Host: "a", Cores: 4, From: 0, Until: 100}, {Owner: 1, Host: "a", Cores: 4, From: 50, Until: 100},
			}, []float64{75, 25}, 0, 0,
		},
		"beyond the node's life": {
			[]spend.Node{node("a")}, []spend.Container{{Host: "a", Cores: 4, From: -50, Until: 500}}, []float64{100}, 0, 0,
		},
		"spot costs its own price": {
			[]spend.Node{node("a"), spot}, []spend.Container{{Host: "b", Cores: 4, From: 0, Until: 100}}, []float64{50}, 100, 400,
		},
		"an unknown host": {
			[]spend.Node{node("a"), node("b")}, []spend.Container{{Cores: 4, From: 0, Until: 100}}, []float64{100}, 100, 400,
		},
		"memory on an unknown host": {
			[]spend.Node{node("a"), node("b")}, []spend.Container{{Cores: 1, MiB: 8192, From: 0, Until: 100}}, []float64{100}, 100, 400,
		},
		"an address in place of a name": {
			[]spend.Node{node("b"), {Host: "a", Address: "10.0.0.1", Cores: 4, From: 0, Until: 100, Price: 3}},
			[]spend.Container{{Host: "10.0.0.1", Cores: 4, From: 0, Until: 100}}, []float64{300}, 100, 400,
		},
		"an unknown host beside full nodes": {
			[]spend.Node{node("a")}, []spend.Container{
				{Owner: 0, Host: "a", Cores: 4, From: 0, Until: 100}, {Owner: 1, Cores: 1, From: 0, Until: 100},
			}, []float64{100, 0}, 0, 0,
		},
		"a host's name that another node had before": {
			[]spend.Node{node("a"), {Host: "a", Cores: 2, From: 100, Until: 200, Price: 1}},
			[]spend.Container{{Host: "a", Cores: 2, From: 50, Until: 150}}, []float64{25 + 50}, 75 + 50, 300 + 100,
		},
	} {
		t.Run(name, func(t *testing.T) {
			parts, idle := spend.Divide(test.nodes, test.containers, len(test.want))
			for i, want := range test.want {
				require.InDelta(t, want, parts[i].USD, 1e-6)
			}
			require.InDelta(t, test.idle, idle.USD, 1e-6)
			require.InDelta(t, test.core, idle.CoreMillis, 1e-6)
		})
	}
	parts, _ := spend.Divide([]spend.Node{spot}, []spend.Container{{Host: "b", Cores: 4, From: 0, Until: 100}}, 1)
	require.InDelta(t, parts[0].USD, parts[0].SpotUSD, 1e-9)
}

// Whatever runs where and when, the parts add up to what the nodes cost, and none is negative.
func TestPartsAddUp(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		host := func() string { return []string{"a", "b", "c", ""}[random.IntN(4)] }
		at := func() int64 { return random.Int64N(1100) - 100 }
		nodes := make([]spend.Node, random.IntN(6))
		for i := range nodes {
			from := at()
			nodes[i] = spend.Node{
				Host: host(), Cores: random.Int64N(9), MiB: random.Int64N(101), From: from, Until: from + random.Int64N(500),
				Price: 2 * random.Float64(), Spot: random.IntN(2) == 0,
			}
		}
		containers := make([]spend.Container, random.IntN(13))
		for i := range containers {
			containers[i] = spend.Container{
				Owner: random.IntN(3), Host: host(), Cores: 6 * random.Float64(), MiB: 150 * random.Float64(), From: at(), Until: at(),
			}
		}
		parts, idle := spend.Divide(nodes, containers, 3)
		var usd, spot, wantUSD, wantSpot float64
		for _, part := range append(parts, idle) {
			require.GreaterOrEqual(t, part.USD, -1e-6, seed)
			usd, spot = usd+part.USD, spot+part.SpotUSD
		}
		for _, node := range nodes {
			cost := node.Price * float64(node.Until-node.From)
			wantUSD += cost
			if node.Spot {
				wantSpot += cost
			}
		}
		require.InDelta(t, wantUSD, usd, 1e-6*(1+wantUSD), seed)
		require.InDelta(t, wantSpot, spot, 1e-6*(1+wantSpot), seed)
	}
}
