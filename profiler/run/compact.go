package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func compactOption() Option {
	return Option{
		Name: "compact", Default: "false", Doc: "Also copy the rows of each table and day that has changed into one object below " +
			tables.Compacted + "/, at the end of a run. Tables that have such objects are kept so without it.",
		Rule: "must be true or false", Switch: true,
		set: func(o *Options, s string) (ok bool) { o.Compact, ok = parseBool(s); return ok },
	}
}

// UncompactedError says that a command has done its work, and that the compacted copies of some days are as they were.
type UncompactedError struct{ Days []lake.UncompactedDay }

// Error has a line for each day.
func (e *UncompactedError) Error() string {
	var lines []string
	for _, day := range e.Days {
		lines = append(lines, DescribeUncompacted(day))
	}
	return strings.Join(lines, "\n")
}

// DescribeUncompacted says which day was not compacted, why, and what to do.
func DescribeUncompacted(d lake.UncompactedDay) string {
	return fmt.Sprintf("%s not compacted: %s; %s", d.Day, d.Reason, cmp.Or(d.Remedy, damagedRemedy))
}

// Compact compacts what has changed of existing tables, as the only writer. printf prints lines about a long compaction.
func Compact(
	ctx context.Context, config aws.Config, o Options, owner string, printf func(format string, args ...any),
) (done lake.Compaction, err error) {
	kept, at, err := Open(ctx, config, o)
	if err != nil {
		return done, err
	}
	err = locked(ctx, kept, at, owner, func(kept *lake.Lake, _ Place) (err error) {
		done, err = compact(ctx, kept, printf)
		return err
	})
	return done, err
}

func compact(ctx context.Context, kept *lake.Lake, printf func(format string, args ...any)) (lake.Compaction, error) {
	said := time.Now()
	return kept.Compact(ctx, func(c lake.Compaction) {
		if time.Since(said) >= lineInterval {
			said = time.Now()
			printf("%d of %d days compacted", c.Compacted, c.Days)
		}
	})
}

// keepCompacted compacts what do has changed of a compacted lake.
func keepCompacted(ctx context.Context, kept *lake.Lake) error {
	if !kept.IsChanged() {
		return nil
	}
	compacted, err := kept.IsCompacted(ctx)
	if err != nil || !compacted {
		return err
	}
	done, err := kept.Compact(ctx, nil)
	if err == nil && len(done.Failed) > 0 {
		err = &UncompactedError{done.Failed}
	}
	return err
}
