package eventlog

import (
	"bytes"
	"encoding/json"
	"reflect"
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
	return decoded(d, kind, kind.bound(d))
}

// copying is storing without targets: all is left to decode.
func copying(line []byte, kind *eventKind) (event Event, ok bool) {
	d := newDecoder()
	d.input = newInput(bytes.NewReader(line), make([]byte, len(line)+1))
	if !d.next() {
		return nil, false
	}
	kind.bound(d)
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
		if kind == nil || kind.bound == nil {
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
		if end, isEnd := got.(*TaskEnd); isEnd && end.Outcome == success {
			require.Equal(t, emptyObject, left, "%s", line)
			require.NotZero(t, end.Metrics.RunTime)
			ends++
		}
	}
	require.Greater(t, ends, 10)
}

// Memory of an event is used again: nothing of one task is left in the next.
func TestStoredValuesAreOfOneEvent(t *testing.T) {
	d := newDecoder()
	text := strings.Join([]string{
		`{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Task ID":2,"Host":"a"},` +
			`"Task Metrics":{"Result Size":3,"Input Metrics":{"Bytes Read":4}},"Task Executor Metrics":{"JVMHeapMemory":5}}`,
		`{"Event":"SparkListenerTaskEnd","Task Metrics":{}}`,
		`{"Event":"SparkListenerTaskEnd","Task Metrics":null,"Task Executor Metrics":{"JVMHeapMemory":6}}`,
	}, "\n")
	d.input = newInput(strings.NewReader(text), make([]byte, bufferSize))
	next := func() TaskEnd {
		require.True(t, d.next())
		event, err := d.decode()
		require.NoError(t, err)
		return *event.(*TaskEnd)
	}
	first := next()
	require.Equal(t, Task{StageID: 1, ID: 2, Host: "a"}, first.Task)
	require.Equal(t, TaskMetrics{ResultSize: 3, InputBytes: 4}, *first.Metrics)
	require.Equal(t, ExecutorMetrics{JVMHeap: 5}, *first.Peaks)
	second := next()
	require.Equal(t, Task{}, second.Task)
	require.Equal(t, TaskMetrics{}, *second.Metrics)
	require.Nil(t, second.Peaks)
	third := next()
	require.Nil(t, third.Metrics)
	require.Equal(t, ExecutorMetrics{JVMHeap: 6}, *third.Peaks)
}

// Values that are not as Spark writes them are stored, or fail to decode, all the same.
func TestStoredValuesOfOtherForms(t *testing.T) {
	for _, value := range []string{
		`0`, `-0`, `7`, `-7`, `999999999999999999`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`,
		`1.5`, `1e3`, `"7"`, `"a"`, `""`, `"\u00e4\ud83d\ude00"`, `"\ud83d"`, `"\"\\"`, `"ä"`, "\"\xff\xfea\"",
		`"` + strings.Repeat("x", maxText+10) + `"`, `true`, `null`, `{}`, `{"a":1}`, `[]`, `[1]`, ` 7 `, ` "a" `,
	} {
		for _, name := range []string{"Launch Time", "Host", "Executor ID", "Getting Result Time"} {
			line := []byte(`{"Event":"SparkListenerTaskEnd","Task Info":{"Task ID":1,"` + name + `":` + value + `,"Failed":true}}`)
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

// FuzzStore reads any JSON as the event of a task: storing gives what decoding gives.
func FuzzStore(f *testing.F) {
	seeds := map[*eventKind]int{}
	for _, line := range realLines(f) {
		kind := kindOfLine(line)
		if kind == nil || kind.bound == nil {
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
	require.Greater(t, numbers, 40, "%v", reflect.TypeFor[taskEnd]())
}
