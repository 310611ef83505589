package eventlog

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// taskKinds are those whose values are stored while skimming.
func taskKinds() []*eventKind {
	return []*eventKind{kinds()[taskStartEvent], kinds()[taskEndEvent]}
}

// storing returns the event of a line that is read in pieces of a size, and the text that
// was left to decode. It returns false if the line is no event.
func storing(line []byte, kind *eventKind, size int) (event Event, left string, ok bool) {
	d := newDecoder()
	d.input = newInput(bytes.NewReader(line), make([]byte, size))
	if !d.next() {
		return nil, "", false
	}
	return decoded(d, kind, kind.begin(d))
}

// copying is storing without targets: all is left to decode.
func copying(line []byte, kind *eventKind) (event Event, ok bool) {
	d := newDecoder()
	d.input = newInput(bytes.NewReader(line), make([]byte, len(line)+1))
	if !d.next() {
		return nil, false
	}
	event, _, ok = decoded(d, kind, kind.shape)
	return event, ok
}

func decoded(d *decoder, kind *eventKind, of *shape) (event Event, left string, ok bool) {
	out, ok := d.skim(of)
	if !ok {
		return nil, "", false
	}
	left = string(out)
	event, err := kind.decode(d, bytes.ToValidUTF8(out, []byte("\ufffd")))
	return event, left, err == nil
}

// What a skimmer stores is what decoding a copy gives. Of a successful task, nothing is
// left to decode.
func TestStoringGivesWhatDecodingGives(t *testing.T) {
	ends := 0
	for _, line := range realLines(t) {
		kind := kindOfLine(line)
		if kind == nil || kind.begin == nil {
			continue
		}
		want, ok := copying(line, kind)
		require.True(t, ok, "%s", line)
		for _, size := range []int{1, 7, 97, len(line) - 1, len(line)} {
			got, _, ok := storing(line, kind, size)
			require.True(t, ok, "%s", line)
			require.Equal(t, want, got, "in pieces of %d: %s", size, line)
		}
		got, left, _ := storing(line, kind, bufferSize)
		require.Equal(t, want, got, "%s", line)
		if end, isEnd := got.(*TaskEnd); isEnd && end.Outcome == Success {
			require.Equal(t, emptyObject, left, "%s", line)
			require.NotZero(t, end.Metrics.RunTime)
			ends++
		}
	}
	require.Greater(t, ends, 10)
}

// Memory of an event is used again: nothing of one task is left in the next, whether or
// not the one could be read.
func TestStoredValuesAreOfOneEvent(t *testing.T) {
	const end, start = `{"Event":"SparkListenerTaskEnd"`, `{"Event":"SparkListenerTaskStart"`
	full := `,"Stage ID":1,"Task End Reason":{"Reason":"FetchFailed","Block Manager Address":{"Host":"h","Port":1},"Shuffle ID":3},` +
		`"Task Info":{"Task ID":2,"Host":"a"},"Task Executor Metrics":{"JVMHeapMemory":5},` +
		`"Task Metrics":{"Result Size":3,"Input Metrics":{"Bytes Read":4}}}`
	lines := []string{
		end + full, end + `,"Task End Reason":{"Reason":"FetchFailed","Block Manager Address":{}},"Task Metrics":{}}`,
		end + full, end + `,"Task Metrics":null,"Task Executor Metrics":{"JVMHeapMemory":6}}`,
		end + `,"Stage ID":1,"Task Info":{"Host":"a","Failed":7}}`, end + `}`,
		end + `,"Stage ID":1,"Task Info":{"Host":"a"`, end + `}`,
		start + `,"Stage ID":1,"Task Info":{"Task ID":2,"Host":"a"}}`, start + `,"Stage Attempt ID":1}`,
	}
	d := newDecoder()
	d.input = newInput(strings.NewReader(strings.Join(lines, "\n")), make([]byte, bufferSize))
	failed := 0
	for _, line := range lines {
		require.True(t, d.next())
		got, err := d.decode()
		alone := newDecoder()
		alone.input = newInput(strings.NewReader(line+"\n"), make([]byte, bufferSize))
		require.True(t, alone.next())
		want, wantErr := alone.decode()
		require.Equal(t, wantErr, err, line)
		require.Equal(t, want, got, line)
		if err != nil {
			failed++
		}
	}
	require.Equal(t, 2, failed)
}

// Spark writes the members that are read in the order of the fields here: a skimmer
// expects them so. Properties have no order.
func TestMembersAreInSparksOrder(t *testing.T) {
	members := 0
	var walk func(d *json.Decoder, of *shape, path string)
	walk = func(d *json.Decoder, of *shape, path string) {
		token, err := d.Token()
		require.NoError(t, err)
		if token != json.Delim('{') && token != json.Delim('[') {
			return
		}
		next := 0
		for d.More() {
			var value *shape
			name := ""
			if token == json.Delim('{') {
				key, err := d.Token()
				require.NoError(t, err)
				name, _ = key.(string)
			}
			switch {
			case of == nil:
			case token == json.Delim('['), of.kind == kindMap:
				value = of.element
			default:
				if i := of.index([]byte(name)); i >= 0 {
					inOrder := i >= next || strings.HasSuffix(path, ".Properties")
					require.True(t, inOrder, "%s.%s comes after %s", path, name, of.members[max(next-1, 0)].name)
					next, value = i+1, of.members[i].shape
					members++
				}
			}
			walk(d, value, path+"."+name)
		}
		_, err = d.Token()
		require.NoError(t, err)
	}
	for _, line := range realLines(t) {
		if kind := kindOfLine(line); kind != nil {
			d := json.NewDecoder(bytes.NewReader(line))
			walk(d, kind.shape, kind.name)
			_, err := d.Token()
			require.ErrorIs(t, err, io.EOF)
		}
	}
	require.Greater(t, members, 1000)
}

// Values that are not as Spark writes them are stored, or fail to decode, all the same.
func TestStoredValuesOfOtherForms(t *testing.T) {
	for _, value := range []string{
		`0`, `-0`, `7`, `-7`, `999999999999999999`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`,
		`007`, `1.5`, `1e3`, `"7"`, `"a"`, `""`, `"\u00e4\ud83d\ude00"`, `"\ud83d"`, `"\"\\"`, `"ä"`, "\"\xff\xfea\"",
		`"` + strings.Repeat("x", maxText+10) + `"`, `true`, `null`, `{}`, `{"a":1}`, `[]`, `[1]`, ` 7 `, ` "a" `,
	} {
		for _, name := range []string{
			`"Launch Time"`, `"Host"`, `"Executor ID"`, `"Getting Result Time"`, // out of order
			`"Attempt":1,"Launch Time"`, `"Launch Time":1,"Executor ID"`, `"Executor ID":"x","Host"`, `"Speculative":true,"Getting Result Time"`,
		} {
			line := []byte(`{"Event":"SparkListenerTaskEnd","Task Info":{"Task ID":1,` + name + `:` + value + `,"Failed":true}}`)
			for _, kind := range taskKinds() {
				requireStored(t, line, kind, 5)
			}
		}
	}
}

func requireStored(t *testing.T, line []byte, kind *eventKind, size int) {
	t.Helper()
	want, wantOK := copying(line, kind)
	for _, pieces := range []int{len(line) + 1, size} {
		got, _, ok := storing(line, kind, pieces)
		require.Equal(t, wantOK, ok, "%s", line)
		if ok {
			require.Equal(t, want, got, "%s", line)
		}
	}
}

// A member that comes twice is read as copying reads it.
func TestStoredValuesThatComeTwice(t *testing.T) {
	for _, line := range []string{
		`{"Stage ID":1,"Stage ID":0}`, `{"Stage ID":0,"Stage ID":1}`, `{"Stage ID":1,"Stage ID":null}`,
		`{"Task Info":{"Host":"a","Host":""}}`, `{"Task Info":{"Host":"\u0061","Host":"b"}}`,
		`{"Task Metrics":{"Result Size":1},"Task Metrics":{"JVM GC Time":2}}`, `{"Task Metrics":{"Result Size":1},"Task Metrics":null}`,
	} {
		for size := 1; size < len(line); size++ {
			for _, kind := range taskKinds() {
				requireStored(t, []byte(line), kind, size)
			}
		}
	}
}

// FuzzStore reads any JSON as the event of a task: storing gives what decoding gives.
func FuzzStore(f *testing.F) {
	seeds := map[*eventKind]int{}
	for _, line := range realLines(f) {
		kind := kindOfLine(line)
		if kind == nil || kind.begin == nil {
			continue
		}
		if seeds[kind]++; seeds[kind] <= 3 {
			f.Add(line, uint16(97))
		}
	}
	f.Add([]byte(`{"Task Info":{"Host":"\u0061","Task ID":-0},"Task Metrics":{},"Task Executor Metrics":[]}`), uint16(1))
	all := taskKinds()
	f.Fuzz(func(t *testing.T, line []byte, size uint16) {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		if !json.Valid(line) {
			return
		}
		for _, kind := range all {
			requireStored(t, line, kind, int(size)%1000+1)
		}
	})
}

// Every number of a task's end has a target: one without it would have to be decoded.
func TestEveryNumberOfATaskIsStored(t *testing.T) {
	var count func(of *shape) (bound, numbers int)
	count = func(of *shape) (bound, numbers int) {
		for _, m := range of.members {
			switch m.kind {
			case kindNumber:
				numbers++
				if m.number != nil {
					bound++
				}
			case kindObject:
				b, n := count(m.shape)
				bound, numbers = bound+b, numbers+n
			}
		}
		return bound, numbers
	}
	d := newDecoder()
	bound, numbers := count(d.taskEnd.shape)
	require.Equal(t, numbers, bound)
	require.Greater(t, numbers, 40)
}
