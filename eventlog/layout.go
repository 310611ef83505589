package eventlog

import (
	"cmp"
	"fmt"
	"io/fs"
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
// its date and the hour, and the last without a date.
var deliveredFile = regexp.MustCompile(`^eventlog(?:-([0-9]{4}-[0-9]{2}-[0-9]{2}--[0-9]{2}-[0-9]{2}).*)?$`)

// rolled chooses the files of a folder of rolled files, in their order. A compacted file
// replaces all before it.
func (l *Log) rolled(entries []fs.DirEntry) []fs.DirEntry {
	numbers := map[string]int{}
	var files []fs.DirEntry
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, statusFile) && strings.HasSuffix(name, inProgress) {
			l.InProgress = true
		}
		if strings.HasSuffix(name, compacted+inProgress) {
			continue // the server is writing it, or died then: its originals are still there
		}
		if match := rolledFile.FindStringSubmatch(name); match != nil && !entry.IsDir() {
			number, err := strconv.Atoi(match[1])
			if err == nil {
				numbers[name] = number
				files = append(files, entry)
			}
		}
	}
	slices.SortFunc(files, func(a, b fs.DirEntry) int {
		// The compacted one comes after its original.
		return cmp.Or(cmp.Compare(numbers[a.Name()], numbers[b.Name()]), len(a.Name())-len(b.Name()), strings.Compare(a.Name(), b.Name()))
	})
	before := 0
	for i, file := range slices.Backward(files) {
		if strings.HasSuffix(file.Name(), compacted) {
			files, l.Compacted, before = files[i:], true, numbers[file.Name()]-1
			break
		}
	}
	for i, file := range files {
		if number := numbers[file.Name()]; number > before+1 {
			l.gaps = append(l.gaps, gap{i, fmt.Sprintf("%s: files events_%d to events_%d are missing", l.Name, before+1, number-1)})
		}
		before = numbers[file.Name()]
	}
	return files
}

// delivered chooses the files of a folder that Databricks delivers, in their order.
func delivered(entries []fs.DirEntry) []fs.DirEntry {
	var files []fs.DirEntry
	date := func(entry fs.DirEntry) string {
		return cmp.Or(deliveredFile.FindStringSubmatch(entry.Name())[1], "~") // after all dates
	}
	for _, entry := range entries {
		if !entry.IsDir() && deliveredFile.MatchString(entry.Name()) {
			files = append(files, entry)
		}
	}
	slices.SortFunc(files, func(a, b fs.DirEntry) int {
		return cmp.Or(strings.Compare(date(a), date(b)), strings.Compare(a.Name(), b.Name()))
	})
	return files
}

// hidden reports whether a file or folder is none of an event log: checksums and temporary
// ones of Hadoop, and what Spark's reader leaves out.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, statusFile) || path.Ext(name) == ".crc"
}
