package eventlog_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/snappy/xerial"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/eventlog/eventlogtest"
)

// codecFiles are files that Spark's own codecs wrote, and one by gzip, by codec.
func codecFiles(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("../phases/testdata/logs/static.jsonl")
	require.NoError(t, err)
	files := map[string][]byte{"gzip": gzipped(t, text), "plain": text}
	for _, codec := range []string{"zstd", "lz4", "snappy"} {
		files[codec], err = os.ReadFile("testdata/codecs/application_1700000000000_0001." + codec)
		require.NoError(t, err)
	}
	return files
}

// Wherever a file is cut off, what is before is read, and the cut is told.
func TestEveryPrefixOfACompressedLog(t *testing.T) {
	for codec, data := range codecFiles(t) {
		t.Run(codec, func(t *testing.T) {
			whole, _, err := eventlogtest.Read(fstest.MapFS{"a": {Data: data}}, "a")
			require.NoError(t, err)
			cuts := 0
			for size := 8; size < len(data); size += 7 { // fewer do not tell the codec
				events, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: data[:size]}}, "a")
				require.NoError(t, err, "%d bytes", size)
				require.Equal(t, whole[:len(events)], append([]eventlog.Event{}, events...), "%d bytes", size)
				require.Empty(t, report.Damaged, "%d bytes", size)
				if report.Truncated != "" {
					cuts++
				}
			}
			require.Greater(t, cuts, len(data)/7/2)
		})
	}
}

// Spark writes one stream, but files may have been appended to one another.
func TestConcatenatedStreams(t *testing.T) {
	for codec, data := range codecFiles(t) {
		once, _, err := eventlogtest.Read(fstest.MapFS{"a": {Data: data}}, "a")
		require.NoError(t, err)
		twice, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: append(bytes.Clone(data), data...)}}, "a")
		require.NoError(t, err)
		require.Equal(t, append(append([]eventlog.Event{}, once...), once...), twice, codec)
		require.Empty(t, report.Truncated, codec)
	}
}

// Blocks that are larger than a buffer, by another writer.
func TestSnappyOfALargeLog(t *testing.T) {
	text := bytes.Repeat(started("a"), 20_000)
	_, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: xerial.Encode(nil, text)}}, "a")
	require.NoError(t, err)
	require.EqualValues(t, 20_000, report.Events)
	require.EqualValues(t, len(text), report.Bytes)
}

// A block of LZ4 with nothing packed or nothing unpacked is damage: what is before is read.
func TestEmptyBlocksOfLZ4(t *testing.T) {
	data := codecFiles(t)["lz4"]
	whole, _, err := eventlogtest.Read(fstest.MapFS{"a": {Data: data}}, "a")
	require.NoError(t, err)
	for _, lengths := range []string{"\x25\x28\x00\x00\x00\x00", "\x25\x00\x00\x00\x00\x28", "\x15\x28\x00\x00\x00\x00"} {
		const checksum, packed = "....", "forty bytes that are read past the end!!"
		block := "LZ4Block" + lengths + "\x00\x00\x00" + checksum + packed
		_, _, err := eventlogtest.Read(fstest.MapFS{"a": {Data: []byte(block)}}, "a")
		require.ErrorContains(t, err, "which no writer makes")
		events, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: append(bytes.Clone(data), block...)}}, "a")
		require.NoError(t, err)
		require.Equal(t, whole, events[:len(whole)])
		require.Contains(t, report.Damaged, "which no writer makes")
	}
}

// fuzzCodec reads any data after the magic bytes of a codec.
func fuzzCodec(f *testing.F, codec string, magic int) {
	f.Helper()
	data := codecFiles(f)[codec]
	f.Add(data[magic:])
	f.Add(data[magic : len(data)/2])
	broken := bytes.Clone(data[magic:])
	copy(broken[len(broken)/3:], "\xff\xff\xff\xff")
	f.Add(broken)
	prefix := bytes.Clone(data[:magic])
	f.Fuzz(func(t *testing.T, rest []byte) {
		log, err := eventlog.Open(fstest.MapFS{"a": {Data: append(bytes.Clone(prefix), rest...)}}, "a")
		require.NoError(t, err)
		var events, lost int64
		report, err := log.Read(context.Background(), func(event eventlog.Event) error {
			if _, is := event.(*eventlog.Lost); is {
				lost++
			} else {
				events++
			}
			return nil
		})
		require.Equal(t, events, report.Events)
		if err == nil && report.Damaged+report.Unread != "" {
			require.Positive(t, lost)
		}
	})
}

func FuzzZstd(f *testing.F)   { fuzzCodec(f, "zstd", 4) }
func FuzzLZ4(f *testing.F)    { fuzzCodec(f, "lz4", 8) }
func FuzzSnappy(f *testing.F) { fuzzCodec(f, "snappy", 8) }
func FuzzGzip(f *testing.F)   { fuzzCodec(f, "gzip", 2) }

// FuzzLines reads any text: lines of all kinds of events are its seeds.
func FuzzLines(f *testing.F) {
	logs, err := filepath.Glob("../phases/testdata/logs/*.jsonl")
	require.NoError(f, err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(strings.Repeat("{\"Event\":\"SparkListenerTaskEnd\",\n", 3)))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(text []byte) (all []eventlog.Report, texts string) {
			report, err := eventlog.Lines(context.Background(), bytes.NewReader(text), "log", func(event eventlog.Event) error {
				if start, is := event.(*eventlog.ApplicationStart); is {
					texts += start.ID + start.Name
				}
				return nil
			})
			if err != nil {
				require.Zero(t, report.Events)
			}
			return []eventlog.Report{report}, texts
		}
		first, texts := read(text)
		second, again := read(text)
		require.Equal(t, first, second)
		require.Equal(t, texts, again)
		require.EqualValues(t, len(text), first[0].Bytes+boundary(first[0], text))
	})
}

// boundary is what was not read, of a text that is no log.
func boundary(report eventlog.Report, text []byte) int64 {
	if report.Events == 0 {
		return int64(len(text)) - report.Bytes
	}
	return 0
}
