package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// metadataEvent is the event with which Databricks begins each part of a log. No document
// describes it; the event logs in NVIDIA's spark-rapids-tools have it.
const metadataEvent = "DBCEventLoggingListenerMetadata"

// metadata says which part of which log a file is. A SparkContext counts its parts from 0.
type metadata struct {
	Event   string       `json:"Event"`
	Part    *int64       `json:"Rollover Number"`
	Context *json.Number `json:"SparkContext Id"`
}

// beginning is what the first bytes of a file show.
type beginning struct {
	isLog   bool // they are those of an event
	isZip   bool
	packed  bool // compressed
	part    int64
	context string // "" of a file without metadata
	err     error  // the file cannot be read
}

// part is a file of a folder that Databricks delivers.
type part struct {
	file
	beginning
}

// isDelivered reports whether it is a part, by what it says or else by its name.
func (p part) isDelivered() bool {
	return p.context != "" || deliveredFile.MatchString(path.Base(p.name))
}

// concurrentLooks is how many files of a folder are opened at a time.
const concurrentLooks = 16

// lookInto reads the beginnings of files. It leaves out those that are gone: finished and
// renamed, or expired, since they were listed.
func lookInto(files fs.FS, these []file) []part {
	found := make([]part, len(these))
	var group errgroup.Group
	group.SetLimit(concurrentLooks)
	for i, one := range these {
		group.Go(func() error {
			found[i] = part{one, look(files, one.name)}
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	return slices.DeleteFunc(found, func(p part) bool { return errors.Is(p.err, fs.ErrNotExist) })
}

// look reads the beginning of a file. The metadata is about 150 bytes long.
func look(files fs.FS, name string) (found beginning) {
	file, err := files.Open(name)
	if err != nil {
		return beginning{err: err} // reading the log names the file
	}
	defer func() { _ = file.Close() }()
	from := &stored{ctx: context.Background(), in: file}
	text, closeText, err := decompress(from)
	if errors.Is(err, errCodec) {
		return beginning{isLog: true} // reading it says what to do
	}
	if errors.Is(err, errZip) {
		return beginning{isZip: true}
	}
	if err != nil {
		return beginning{err: err}
	}
	defer closeText()
	first := make([]byte, 1<<10)
	n, err := io.ReadFull(text, first)
	if from.err != nil {
		return beginning{err: cmp.Or(from.err, err)}
	}
	first = bytes.TrimLeft(first[:n], " \t\r\n")
	found.isLog = bytes.HasPrefix(first, []byte(`{"Event":`))
	_, found.packed = text.(*bounded)
	line, _, _ := bytes.Cut(first, []byte("\n"))
	found.mark(line)
	return found
}

// mark takes the part's number and context from a first line that has both.
func (b *beginning) mark(line []byte) {
	var of metadata
	if b.isLog && json.Unmarshal(line, &of) == nil && of.Event == metadataEvent && of.Part != nil && of.Context != nil {
		b.part, b.context = *of.Part, of.Context.String()
	}
}

// delivered opens the logs whose parts are in a folder that Databricks delivers: one for
// each SparkContext, since a driver that restarts may write into the folder of the one
// before. The parts say which they are; names do not, since people copy and rename what they
// archive. Parts that do not say are one log, in the order of their names.
func delivered(files fs.FS, dir string, found []part) (logs []*Log) {
	contexts, unmarked := map[string][]part{}, []part(nil)
	for _, p := range found {
		switch {
		case p.context != "":
			contexts[p.context] = append(contexts[p.context], p)
		case p.isDelivered():
			unmarked = append(unmarked, p)
		}
	}
	for context, parts := range contexts {
		log := &Log{Name: dir + " (SparkContext " + context + ")", Context: context, files: files}
		log.add(log.numbered(parts))
		logs = append(logs, log)
	}
	if len(logs) > 0 { // a part without any text is about to be delivered
		unmarked = slices.DeleteFunc(unmarked, func(p part) bool { return p.err == nil && p.size() == 0 })
	}
	if len(unmarked) > 0 {
		log := &Log{Name: dir, files: files}
		log.add(byDate(unmarked))
		logs = append(logs, log)
	}
	slices.SortFunc(logs, func(a, b *Log) int { return strings.Compare(a.Name, b.Name) })
	return logs
}

// numbered returns the parts of a SparkContext by their numbers, each once, and keeps which
// are missing.
func (l *Log) numbered(parts []part) []file {
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.part, b.part), byWholeness(a, b), strings.Compare(a.name, b.name))
	})
	// The newest part has no date, until the next one is begun.
	closed := dateOf(parts[len(parts)-1].name) != "" && !slices.ContainsFunc(parts, func(p part) bool { return dateOf(p.name) == "" })
	parts = slices.CompactFunc(parts, func(a, b part) bool { return a.part == b.part })
	most := parts[len(parts)-1].part
	if closed { // Databricks has begun another part
		most++
	}
	missing := func(before int, from, to int64) {
		text := fmt.Sprintf("part %d of 0 to %d is missing", from, most)
		if to > from {
			text = fmt.Sprintf("parts %d to %d of 0 to %d are missing", from, to, most)
		}
		l.gaps = append(l.gaps, gap{before, l.Name + ": " + text})
	}
	next, files := int64(0), make([]file, len(parts))
	for i, p := range parts {
		if p.part > next {
			missing(i, next, p.part-1)
		}
		next, files[i] = p.part+1, p.file
	}
	if closed {
		missing(len(files), most, most)
	}
	return files
}

// byWholeness puts the better of two copies of a part first: Databricks compresses a part
// once it is closed, and has delivered it before, when it was shorter.
func byWholeness(a, b part) int {
	switch {
	case a.packed == b.packed:
		return cmp.Compare(b.size(), a.size())
	case a.packed:
		return -1
	}
	return 1
}

func (f file) size() int64 {
	if f.info == nil {
		return 0
	}
	return f.info.Size()
}

// byDate sorts parts by the dates in their names.
func byDate(parts []part) []file {
	files := make([]file, len(parts))
	for i, p := range parts {
		files[i] = p.file
	}
	slices.SortFunc(files, func(a, b file) int {
		const afterAll = "~"
		return cmp.Or(strings.Compare(cmp.Or(dateOf(a.name), afterAll), cmp.Or(dateOf(b.name), afterAll)), strings.Compare(a.name, b.name))
	})
	return files
}

// dateOf returns the date in the name of a delivered file, "" if it has none.
func dateOf(name string) string {
	if match := deliveredFile.FindStringSubmatch(path.Base(name)); match != nil {
		return match[1]
	}
	return ""
}
