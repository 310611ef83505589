package eventlog

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/mailru/easyjson"
	"github.com/mailru/easyjson/jlexer"
	"github.com/stretchr/testify/require"
)

// realLines are the lines of the logs that a real Spark wrote.
func realLines(t testing.TB) (lines [][]byte) {
	t.Helper()
	names, err := filepath.Glob("testdata/eventlog_v2_*/events_*")
	require.NoError(t, err)
	more, err := filepath.Glob("testdata/spark4/eventlog_v2_*/events_*")
	require.NoError(t, err)
	require.Len(t, append(names, more...), 5)
	for _, name := range append(names, more...) {
		packed, err := os.ReadFile(name)
		require.NoError(t, err)
		decoder, err := zstd.NewReader(nil)
		require.NoError(t, err)
		text, err := decoder.DecodeAll(packed, nil)
		require.NoError(t, err)
		lines = append(lines, bytes.Split(bytes.TrimSpace(text), []byte("\n"))...)
	}
	return lines
}

// skimmed skims a line that is read in pieces of a size.
func skimmed(line []byte, of *shape, size int) (string, bool) {
	s := skimmer{input: newInput(bytes.NewReader(line), make([]byte, size))}
	if !s.next() {
		return "", false
	}
	out, ok := s.skim(of)
	return string(out), ok
}

func kindOfLine(line []byte) *eventKind {
	d := newDecoder()
	d.input = newInput(bytes.NewReader(line), make([]byte, bufferSize))
	if !d.next() {
		return nil
	}
	if d.peek() == 0 {
		return nil
	}
	name, err := d.eventName()
	if err != nil {
		return nil
	}
	return kinds()[strings.TrimPrefix(string(name), coreEvents)]
}

// What is skimmed is decoded into the same as the whole line, by encoding/json.
func TestSkimmingLosesNothingThatIsRead(t *testing.T) {
	read := map[string]int{}
	for _, line := range realLines(t) {
		kind := kindOfLine(line)
		if kind == nil {
			continue
		}
		read[kind.name]++
		short, ok := skimmed(line, kind.shape, bufferSize)
		require.True(t, ok, "%s", line)
		require.True(t, json.Valid([]byte(short)), short)
		require.Less(t, len(short), len(line))
		whole := wireOf(t, kind.name)
		if strings.Contains(kind.name, "SQLExecutionStart") || strings.Contains(kind.name, "AdaptiveExecutionUpdate") {
			line = withLength(t, line)
		}
		require.NoError(t, json.Unmarshal(withIntegers(line), whole), "%s", line)
		part := wireOf(t, kind.name)
		require.NoError(t, json.Unmarshal([]byte(short), part), short)
		normalize(reflect.ValueOf(whole))
		normalize(reflect.ValueOf(part))
		require.Equal(t, whole, part, kind.name)
	}
	require.Greater(t, len(read), 15, "kinds of events: %v", read)
}

// withLength replaces the text of a plan by its length, as reading it does.
func withLength(t *testing.T, line []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(line, &members))
	var text string
	require.NoError(t, json.Unmarshal(members["physicalPlanDescription"], &text))
	require.NotEmpty(t, text)
	length, err := json.Marshal(len([]rune(text)))
	require.NoError(t, err)
	members["physicalPlanDescription"] = length
	line, err = json.Marshal(members)
	require.NoError(t, err)
	return line
}

// withIntegers takes the quotes from the values of SQL metrics, and from ids of executions.
func withIntegers(line []byte) []byte {
	return regexp.MustCompile(`"(Value|spark\.sql\.execution\.id)":"([^"]*)"`).ReplaceAll(line, []byte(`"$1":$2`))
}

// normalize makes empty slices and maps nil: absent and empty are one.
func normalize(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			normalize(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			normalize(reflect.NewAt(v.Field(i).Type(), v.Field(i).Addr().UnsafePointer()).Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			normalize(v.Index(i))
		}
		if v.Len() == 0 {
			v.SetZero()
		}
	case reflect.Map:
		if v.Len() == 0 {
			v.SetZero()
		}
	}
}

// wireOf returns what events of a name are decoded into.
func wireOf(t testing.TB, name string) easyjson.Unmarshaler {
	t.Helper()
	if ofConnect, ok := strings.CutPrefix(name, connectEvents); ok {
		name = "Connect" + ofConnect
	}
	switch strings.TrimPrefix(strings.TrimPrefix(name, sqlEvents), "SparkListener") {
	case "TaskStart":
		return &taskStart{}
	case "TaskEnd":
		return &taskEnd{}
	case "StageSubmitted":
		return &StageSubmitted{}
	case "StageCompleted":
		return &StageCompleted{}
	case "StageExecutorMetrics":
		return &StageExecutorMetrics{}
	case "ExecutorMetricsUpdate":
		return &executorMetricsUpdate{}
	case "JobStart":
		return &JobStart{}
	case "JobEnd":
		return &jobEnd{}
	case "ExecutorAdded":
		return &ExecutorAdded{}
	case "ResourceProfileAdded":
		return &resourceProfileAdded{}
	case "ExecutorRemoved":
		return &ExecutorRemoved{}
	case "BlockManagerAdded":
		return &BlockManagerAdded{}
	case "EnvironmentUpdate":
		return &EnvironmentUpdate{}
	case "ApplicationStart":
		return &ApplicationStart{}
	case "ApplicationEnd":
		return &ApplicationEnd{}
	case "LogStart":
		return &LogStart{}
	case "SQLExecutionStart":
		return &SQLStart{}
	case "SQLAdaptiveExecutionUpdate":
		return &SQLPlan{}
	case "DriverAccumUpdates":
		return &driverAccumulators{}
	case "SQLExecutionEnd":
		return &SQLEnd{}
	case "ConnectSessionStarted":
		return &SessionStarted{}
	case "ConnectSessionClosed":
		return &SessionClosed{}
	case "ConnectOperationStarted":
		return &OperationStarted{}
	case "ConnectOperationFinished", "ConnectOperationClosed", "ConnectOperationFailed":
		return &operationEnded{}
	case "ConnectOperationCanceled":
		return &operationCanceled{}
	}
	return &ExecutorExcluded{}
}

func TestTextsAreCut(t *testing.T) {
	of := shapes{}.of(reflect.TypeFor[struct {
		Text   string  `json:"text"`
		Length int64   `json:"length" skim:"length"`
		Value  *int64  `json:"value" skim:"integer"`
		Zero   *int64  `json:"zero"`
		Number int64   `json:"number"`
		List   []int64 `json:"list"`
	}](), maxText)
	of.members[0].max = 8
	for line, want := range map[string]string{
		`{"text":"12345678"}`:                         `{"text":"12345678"}`,
		`{"text":"123456789"}`:                        `{"text":"12345678"}`,
		`{"text":"1234567\n9"}`:                       `{"text":"1234567"}`,
		`{"text":"12345\"\"\""}`:                      `{"text":"12345\""}`,
		`{"text":"123\u00e4x"}`:                       `{"text":"123"}`,
		`{"text":"\ud83d\ude00\ud83d\ude00"}`:         `{}`,
		`{"text":"123456\\\\\\"}`:                     `{"text":"123456\\"}`,
		`{"text":"1234567ä"}`:                         `{"text":"1234567"}`,
		`{"text":"12345😀9"}`:                          `{"text":"12345"}`,
		`{"length":"a\n\u00e4ä😀\ud83d\ude00\"\\"}`:    `{"length":8}`,
		`{"length":""}`:                               `{}`,
		`{"value":"17"}`:                              `{"value":17}`,
		`{"value":-17}`:                               `{"value":-17}`,
		`{"value":0}`:                                 `{"value":0}`,
		`{"value":"0"}`:                               `{"value":0}`,
		`{"value":"1.5 s"}`:                           `{}`,
		`{"value":"99999999999999999999"}`:            `{}`,
		`{"value":1e9}`:                               `{}`,
		`{"value":[{"a":1}],"text":"a"}`:              `{"text":"a"}`,
		`{"value":{"a":[1,2,"]"]},"text":"a"}`:        `{"text":"a"}`,
		`{"value":null,"zero":0,"number":0}`:          `{"zero":0}`,
		`{"number":7,"text":"","list":[]}`:            `{"number":7}`,
		`{"list":[0,0,1]}`:                            `{"list":[0,0,1]}`,
		` { "other" : [ "]" , [ ] , {} ] , "a":"\\"}`: `{}`,
		`{"a":["]","\"]"],"number":1}`:                `{"number":1}`,
		`{"number":"1"}`:                              `{"number":"1"}`,
		`{"number":{"a":1}}`:                          `{"number":{}}`,
		`{"list":{"a":1}}`:                            `{"list":{}}`,
		`{"text":12}`:                                 `{"text":12}`,
	} {
		for size := 1; size <= len(line)+1; size++ {
			got, ok := skimmed([]byte(line), of, size)
			require.True(t, ok, "%s in pieces of %d", line, size)
			require.Equal(t, want, got, "%s in pieces of %d", line, size)
		}
	}
	for _, line := range []string{``, `1`, `[]`, `{`, `{"text`, `{"text"`, `{"text":`, `{"text":"a`, `{"text":"a\`,
		`{"text":"a"`, `{"a":[`, `{} {}`, `{"a"}`, `{"a":}`,
		`{"number":` + strings.Repeat("1", 100) + `}`} {
		for size := 1; size <= len(line)+1; size++ {
			_, ok := skimmed([]byte(line), of, size)
			require.False(t, ok, "%s in pieces of %d", line, size)
		}
	}
}

// FuzzSkim skims any text as an event of each kind: in pieces of any size it makes the
// same, of JSON it makes JSON, and easyjson decodes that as encoding/json does.
func FuzzSkim(f *testing.F) {
	seeds := map[*eventKind]int{}
	for _, line := range realLines(f) {
		kind := kindOfLine(line)
		if seeds[kind]++; len(line) < 20_000 && seeds[kind] <= 2 {
			f.Add(line, uint16(97))
		}
	}
	f.Add([]byte(`{"Event":"SparkListenerTaskEnd","Task Info":{"Accumulables":[{"a":"\\"},"]"]},"Task Metrics":null}`), uint16(1))
	f.Add([]byte(`{"Event":"SparkListenerJobEnd","Job Result":{"Result":"\ud83d"}}`), uint16(3))
	f.Add([]byte(`{"Other":[1}}]}`), uint16(12)) // the first piece ends before the array does
	all := kinds()
	f.Fuzz(func(t *testing.T, line []byte, size uint16) {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		for _, kind := range all {
			whole, ok := skimmed(line, kind.shape, len(line)+1)
			pieces, okPieces := skimmed(line, kind.shape, int(size)%1000+1)
			require.Equal(t, ok, okPieces)
			if !ok {
				require.False(t, json.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && !hasLongWord(line), "%s", line)
				continue
			}
			require.Equal(t, whole, pieces)
			if !json.Valid(line) {
				continue
			}
			short := bytes.ToValidUTF8([]byte(whole), []byte("\ufffd"))
			require.True(t, json.Valid(short), "%s", short)
			want, got := wireOf(t, kind.name), wireOf(t, kind.name)
			if json.Unmarshal(short, want) != nil {
				continue
			}
			lexer := jlexer.Lexer{Data: short}
			got.UnmarshalEasyJSON(&lexer)
			if lexer.Error() != nil {
				continue // it takes fewer numbers
			}
			normalize(reflect.ValueOf(want))
			normalize(reflect.ValueOf(got))
			require.Equal(t, want, got, "%s", short)
		}
	})
}

// hasLongWord reports whether there may be a number that is longer than any.
func hasLongWord(line []byte) bool {
	return slices.ContainsFunc(bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(`,:[]{} "`, r) }),
		func(word []byte) bool { return len(word) > maxNumber })
}
