package fold

import "math"

// ids is a set of ids. Spark counts ids up, so that a set of all takes 1 bit for each.
type ids struct {
	words map[int64]uint64
	count int64
	most  int64 // largest id; of no id meaningless
	least int64 // likewise
}

// add adds an id and reports whether it is new.
func (s *ids) add(id int64) bool {
	if s.words == nil {
		s.words = map[int64]uint64{}
	}
	word, bit := id>>6, uint64(1)<<(id&63)
	if s.words[word]&bit != 0 {
		return false
	}
	s.words[word] |= bit
	if s.count == 0 {
		s.most, s.least = id, id
	}
	s.most, s.least = max(s.most, id), min(s.least, id)
	s.count++
	return true
}

func (s *ids) has(id int64) bool { return s.words[id>>6]&(1<<(id&63)) != 0 }

// attempts are those of stages, which Spark counts up from 0.
type attempts struct {
	all    map[stageKey]struct{}
	latest map[int64]int64 // attempt, by stage
}

func newAttempts() attempts {
	return attempts{all: map[stageKey]struct{}{}, latest: map[int64]int64{}}
}

func (s *attempts) add(stage, attempt int64) {
	s.all[stageKey{stage, attempt}] = struct{}{}
	s.latest[stage] = max(s.latest[stage], attempt)
}

func (s *attempts) has(stage, attempt int64) bool {
	_, ok := s.all[stageKey{stage, attempt}]
	return ok
}

// mostAttempts bounds what one stage adds to what is expected.
const mostAttempts = 1 << 20

// expected returns how many there must be: of each stage those up to its latest, and one
// of each stage that has none.
func (s *attempts) expected() (count int64) {
	most := int64(-1)
	for stage, latest := range s.latest {
		most = max(most, stage)
		count += min(latest+1, mostAttempts)
	}
	return count + upToID(most) - int64(len(s.latest))
}

func (s *attempts) seen() int64 { return int64(len(s.all)) }

// upToID returns how many ids there are up to the largest.
func upToID(most int64) int64 { return min(most, math.MaxInt64>>1) + 1 }
