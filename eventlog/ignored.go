package eventlog

// Ignored are the files among event logs that are none. Checksums, hidden files and Hadoop's
// own (_SUCCESS) do not count.
type Ignored struct {
	Count int
	Files []IgnoredFile // the first of them
}

// IgnoredFile is such a file, and why it is no event log.
type IgnoredFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// maxIgnored bounds Ignored.Files: a folder may have any number of other files.
const maxIgnored = 20

func (i *Ignored) add(name, reason string) {
	i.merge(Ignored{Count: 1, Files: []IgnoredFile{{name, reason}}})
}

func (i *Ignored) merge(others Ignored) {
	i.Count += others.Count
	i.Files = append(i.Files, others.Files[:min(len(others.Files), maxIgnored-len(i.Files))]...)
}
