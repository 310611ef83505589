package fold

import "math/bits"

// ids is a set of ids. Spark counts ids up, so that a set of all takes 1 bit for each.
type ids struct {
	words map[int64]uint64
	count int64
	most  int64 // largest id; of no id meaningless
	least int64 // likewise
}

// add adds an id and tells whether it is new.
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

// attempts counts the attempts of stages, which Spark counts up from 0.
type attempts map[int64]uint64 // bits of the attempts that were seen, by stage

func (s attempts) add(stage, attempt int64) { s[stage] |= 1 << min(max(attempt, 0), 63) }

func (s attempts) has(stage, attempt int64) bool { return s[stage]&(1<<min(max(attempt, 0), 63)) != 0 }

// expected returns how many there must be: of each stage those up to its latest, and one
// of each stage that has none.
func (s attempts) expected() (count int64) {
	most := int64(-1)
	for stage, seen := range s {
		most = max(most, stage)
		count += int64(bits.Len64(seen))
	}
	return count + most + 1 - int64(len(s))
}

func (s attempts) seen() (count int64) {
	for _, seen := range s {
		count += int64(bits.OnesCount64(seen))
	}
	return count
}
