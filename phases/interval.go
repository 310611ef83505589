package phases

import (
	"cmp"
	"slices"
)

// interval is [from, to) in milliseconds.
type interval struct{ from, to int64 }

// union is a sorted list of intervals that neither overlap nor touch.
type union []interval

// add merges an interval into the union. Events come nearly in order, so most
// intervals belong to the end.
func (u *union) add(from, to int64) {
	if from >= to {
		return
	}
	s := *u
	if len(s) == 0 || s[len(s)-1].to < from {
		*u = append(s, interval{from, to})
		return
	}
	first, _ := slices.BinarySearchFunc(s, from, func(i interval, from int64) int { return cmp.Compare(i.to, from) })
	after := first // the first that starts after to
	for after < len(s) && s[after].from <= to {
		from, to = min(from, s[after].from), max(to, s[after].to)
		after++
	}
	*u = slices.Replace(s, first, after, interval{from, to})
}

// pile collects intervals in any order; merging each into a union would take time
// with the square of their number.
type pile []interval

func (p *pile) add(from, to int64) {
	if from < to {
		*p = append(*p, interval{from, to})
	}
}

// union returns what the intervals cover. It sorts them.
func (p pile) union() (u union) {
	slices.SortFunc(p, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	for _, i := range p {
		u.add(i.from, i.to)
	}
	return u
}

// intersect returns what is in both.
func (u union) intersect(other union) (both union) {
	for a, b := 0, 0; a < len(u) && b < len(other); {
		from, to := max(u[a].from, other[b].from), min(u[a].to, other[b].to)
		if from < to {
			both = append(both, interval{from, to})
		}
		if u[a].to < other[b].to {
			a++
		} else {
			b++
		}
	}
	return both
}

// without returns what is in u and not in other.
func (u union) without(other union) (rest union) {
	b := 0
	for _, i := range u {
		for b < len(other) && other[b].to <= i.from {
			b++
		}
		from := i.from
		for at := b; at < len(other) && other[at].from < i.to; at++ {
			if from < other[at].from {
				rest = append(rest, interval{from, other[at].from})
			}
			from = other[at].to
		}
		if from < i.to {
			rest = append(rest, interval{from, i.to})
		}
	}
	return rest
}
