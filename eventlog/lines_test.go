package eventlog

import (
	"cmp"
	"context"
	"io"
)

// Lines reads an uncompressed event log and passes its events to take. name identifies the
// log in errors and in the report. A last line that is cut off is reported as Truncated;
// other lines that cannot be read are passed to take as *Lost. Lines fails if r or take
// does, or if the text is damaged and has no event.
func Lines(ctx context.Context, r io.Reader, name string, take func(Event) error) (Report, error) {
	l := newLines(take)
	from := &stored{ctx: ctx, in: r}
	err := l.read(from, from, name)
	return l.report, cmp.Or(err, l.none())
}
