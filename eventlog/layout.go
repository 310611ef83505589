package eventlog

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names of a folder of rolled files and of its files
// (org.apache.spark.deploy.history.RollingEventLogFilesWriter, EventLogFileReader).
const (
	rolledFolder = "eventlog_v2_"
	statusFile   = "appstatus_"
	compacted    = ".compact"
	inProgress   = ".inprogress"
)

// rolledFile is a file of such a folder. Its number grows by one.
var rolledFile = regexp.MustCompile(`^events_([0-9]{1,18})_`)

// deliveredFile is a file of a folder that Databricks delivers: one for each period, by
// its date and the hour, and the last without a date. See delivered.
var deliveredFile = regexp.MustCompile(`^eventlog(?:-([0-9]{4}-[0-9]{2}-[0-9]{2}--[0-9]{2}-[0-9]{2}).*)?$`)

// rolled chooses the files of a folder of rolled files, in their order, each once. A
// compacted file replaces all before it.
func (l *Log) rolled(found []file) []file {
	numbers := map[string]int{}
	var files []file
	for _, f := range found {
		name := path.Base(f.name)
		if strings.HasPrefix(name, statusFile) && strings.HasSuffix(name, inProgress) {
			l.InProgress = true
		}
		if strings.HasSuffix(name, compacted+inProgress) {
			continue // the server is writing it, or died then: its originals are still there
		}
		if match := rolledFile.FindStringSubmatch(name); match != nil {
			number, err := strconv.Atoi(match[1])
			if err == nil {
				numbers[f.name] = number
				files = append(files, f)
			}
		}
	}
	slices.SortFunc(files, func(a, b file) int {
		// The compacted one comes after its original.
		return cmp.Or(cmp.Compare(numbers[a.name], numbers[b.name]), len(a.name)-len(b.name), strings.Compare(a.name, b.name))
	})
	files = slices.CompactFunc(files, func(a, b file) bool { return isCopy(a.name, b.name) })
	before := 0
	for i, f := range slices.Backward(files) {
		if strings.HasSuffix(f.name, compacted) {
			files, l.Compacted, before = files[i:], true, numbers[f.name]-1
			break
		}
	}
	for i, f := range files {
		if number := numbers[f.name]; number > before+1 {
			l.gaps = append(l.gaps, gap{i, fmt.Sprintf("%s: files events_%d to events_%d are missing", l.Name, before+1, number-1)})
		}
		before = numbers[f.name]
	}
	return files
}

// isCopy reports whether a rolled file is the decompressed or recompressed copy of another.
func isCopy(a, b string) bool {
	return !strings.HasSuffix(b, compacted) && codecSuffix.ReplaceAllString(a, "") == codecSuffix.ReplaceAllString(b, "")
}

// codecSuffix is how Spark and people who archive end the name of a compressed file.
var codecSuffix = regexp.MustCompile(`\.(zstd|zst|lz4|snappy|lzf|gz)$`)

// hidden reports whether a file or folder is none of an event log: checksums and temporary
// ones of Hadoop, and what Spark's reader leaves out.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, statusFile) || path.Ext(name) == ".crc"
}
