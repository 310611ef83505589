package phases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// shown lists the phases in the order of a line of text, with their names. The last
// two are rare and take part only from one percent on.
var shown = []struct {
	phase platform.Phase
	name  string
	rare  bool
}{
	{platform.PhaseResourceWait, "wait", false},
	{platform.PhaseCompute, "compute", false},
	{platform.PhaseWrite, "S3 write", false},
	{platform.PhaseDriver, "driver", false},
	{platform.PhaseSubmit, "submit", true},
	{platform.PhaseIdle, "idle", true},
}

// Line says in one line which share of an application's wall clock each phase took:
// "wait 31 % · compute 44 % · S3 write 20 % · driver 5 %". The shares are whole
// percentages with the sum 100. It is "" for an application without any time.
func Line(seconds map[platform.Phase]float64, approximate bool) string {
	shares := percentages(seconds)
	if shares == nil {
		return ""
	}
	var parts []string
	for _, s := range shown {
		if s.rare && shares[s.phase] < 1 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d %%", s.name, shares[s.phase]))
	}
	line := strings.Join(parts, " · ")
	if approximate {
		line += " (approximate)"
	}
	return line
}

// percentages rounds the shares by largest remainder, so that they sum to 100; nil if
// there is nothing to share. Equal remainders go to the phases in the order of a line.
func percentages(seconds map[platform.Phase]float64) map[platform.Phase]int {
	total := 0.0
	for _, phase := range slices.Sorted(maps.Keys(seconds)) { // a fixed order: sums of floats depend on it
		total += max(0, seconds[phase])
	}
	if total <= 0 {
		return nil
	}
	shares, remainders := map[platform.Phase]int{}, map[platform.Phase]float64{}
	left := 100
	var order []platform.Phase
	for _, s := range shown {
		exact := 100 * max(0, seconds[s.phase]) / total
		shares[s.phase] = int(exact)
		remainders[s.phase] = exact - float64(int(exact))
		left -= int(exact)
		order = append(order, s.phase)
	}
	slices.SortStableFunc(order, func(a, b platform.Phase) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, phase := range order[:min(max(left, 0), len(order))] {
		shares[phase]++
	}
	return shares
}
