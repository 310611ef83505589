package eventlog

import (
	"bytes"
	"go/format"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/mailru/easyjson"
	"github.com/mailru/easyjson/gen"
	"github.com/stretchr/testify/require"
)

// generatedFile is the name by which the generator makes the names of its functions unique.
const generatedFile = "wire_easyjson.go"

// The decoders are those that the version of easyjson in go.mod generates from the types.
func TestGeneratedDecodersAreCurrent(t *testing.T) {
	wires := map[string]easyjson.Unmarshaler{}
	add := func(wire easyjson.Unmarshaler) { wires[reflect.TypeOf(wire).Elem().Name()] = wire }
	for name := range kinds() {
		add(wireOf(t, name))
	}
	add(&executorUnexcluded{}) // wireOf returns what it embeds

	g := gen.NewGenerator(generatedFile)
	g.SetPkg("eventlog", reflect.TypeFor[taskEnd]().PkgPath())
	g.NoStdMarshalers()
	for _, name := range slices.Sorted(maps.Keys(wires)) { // easyjson's own order
		g.Add(wires[name])
	}
	var made bytes.Buffer
	require.NoError(t, g.Run(&made)) // prints the header to standard output
	want, err := format.Source(made.Bytes())
	require.NoError(t, err)
	text, err := os.ReadFile(generatedFile)
	require.NoError(t, err)
	_, got, found := bytes.Cut(text, []byte("\n)\n\nfunc "))
	require.True(t, found, "%s has no header", generatedFile)
	got = append([]byte("func "), got...)
	require.True(t, bytes.Equal(bytes.TrimSpace(want), bytes.TrimSpace(got)),
		"%s is not what easyjson generates from event*.go: run `go generate ./eventlog`", generatedFile)
}
