package lake

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// unbounded lists the paths of the columns written without minimum and maximum: strings of
// any length. parquet-go keeps the bounds of every page in memory, and writes them to the
// footer, untruncated: the plans of two executions would take more space there than all
// plans do compressed. Dictionary columns have short values that repeat.
func unbounded(schema *parquet.Schema) (paths [][]string) {
	for _, path := range schema.Columns() {
		leaf, _ := schema.Lookup(path...)
		encoding := leaf.Node.Encoding()
		if leaf.Node.Type().Kind() == parquet.ByteArray && (encoding == nil || encoding.Encoding() != format.RLEDictionary) {
			paths = append(paths, path)
		}
	}
	return paths
}

// tail passes on parquet-go's output, but holds back the end of the file to drop its page
// index.
type tail struct {
	to     io.Writer
	passed int64
	held   *bytes.Buffer // nil until the last row group has been written
}

func (t *tail) Write(p []byte) (int, error) {
	if t.held != nil {
		return t.held.Write(p) // never fails
	}
	n, err := t.to.Write(p)
	t.passed += int64(n)
	return n, err // parquet-go wraps it
}

// finish writes the end of the file without the page index. For a column without bounds
// the index would say that all values are empty, and a reader that trusts it, as Spark
// does, would skip pages with matching rows. Without an index readers skip whole row
// groups, by the bounds in the footer.
func (t *tail) finish() error {
	// https://parquet.apache.org/docs/file-format/: row groups, page index, footer, the
	// footer's length, "PAR1".
	held := t.held.Bytes()
	const end = 8
	if len(held) < end {
		return fmt.Errorf("the end of a Parquet file has only %d bytes", len(held))
	}
	begin := int64(len(held)) - end - int64(binary.LittleEndian.Uint32(held[len(held)-end:]))
	if begin < 0 {
		return fmt.Errorf("the footer of a Parquet file begins %d bytes before the part held back", -begin)
	}
	protocol := new(thrift.CompactProtocol)
	var footer format.FileMetaData
	if err := thrift.Unmarshal(protocol, held[begin:len(held)-end], &footer); err != nil {
		return fmt.Errorf("read the footer of a Parquet file: %w", err)
	}
	index := begin
	for _, group := range footer.RowGroups {
		for i := range group.Columns {
			column := &group.Columns[i]
			index = min(index, column.ColumnIndexOffset-t.passed, column.OffsetIndexOffset-t.passed)
			column.ColumnIndexOffset, column.ColumnIndexLength = 0, 0
			column.OffsetIndexOffset, column.OffsetIndexLength = 0, 0
		}
	}
	if index < 0 {
		return fmt.Errorf("the page index of a Parquet file begins %d bytes before the part held back", -index)
	}
	corrected, err := thrift.Marshal(protocol, &footer)
	if err != nil {
		return fmt.Errorf("write the footer of a Parquet file: %w", err)
	}
	written := append(held[:index:index], corrected...)
	written = binary.LittleEndian.AppendUint32(written, uint32(len(corrected)))
	if _, err := t.to.Write(append(written, "PAR1"...)); err != nil {
		return fmt.Errorf("write the footer of a Parquet file: %w", err)
	}
	return nil
}
