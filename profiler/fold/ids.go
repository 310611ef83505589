package fold

import "math"

// ids is a set of ids. Spark assigns consecutive ids, so each takes about one bit.
type ids struct {
	words    map[int64]uint64
	count    int64
	largest  int64 // meaningless if the set is empty
	smallest int64 // likewise
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
		s.largest, s.smallest = id, id
	}
	s.largest, s.smallest = max(s.largest, id), min(s.smallest, id)
	s.count++
	return true
}

func (s *ids) has(id int64) bool { return s.words[id>>6]&(1<<(id&63)) != 0 }

// attempts is a set of stage attempts. Spark numbers the attempts of a stage from 0.
type attempts struct {
	all    map[stageKey]struct{}
	latest map[int64]int64 // latest attempt, by stage
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

// maxAttempts bounds the attempts expected of one stage.
const maxAttempts = 1 << 20

// expected returns how many attempts there must have been: those of each stage up to its
// latest, and one of each stage of which none was seen.
func (s *attempts) expected() (count int64) {
	largest := int64(-1)
	for stage, latest := range s.latest {
		largest = max(largest, stage)
		count += min(latest+1, maxAttempts)
	}
	return count + upToID(largest) - int64(len(s.latest))
}

func (s *attempts) seen() int64 { return int64(len(s.all)) }

// upToID returns how many ids there are from 0 to the largest.
func upToID(largest int64) int64 { return min(largest, math.MaxInt64>>1) + 1 }
