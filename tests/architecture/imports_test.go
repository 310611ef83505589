package architecture

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const repository = "../.."

func TestImportsFollowTheLayers(t *testing.T) {
	files, err := sources(os.DirFS(repository))
	require.NoError(t, err)
	require.Greater(t, len(files), 300, "the repository's Go files")
	require.Empty(t, forbiddenImports(files))
}

func TestEveryFolderBelongsToALayer(t *testing.T) {
	files, err := sources(os.DirFS(repository))
	require.NoError(t, err)
	for _, file := range files {
		require.Equal(t, file.folder() == ".", layerOf(file.folder()).folder == ".", "%s: add its folder to layers()", file.path)
	}
}

func TestReportsForbiddenImports(t *testing.T) {
	for _, planted := range []struct{ path, imports string }{
		{"platform/planted.go", module + "/assets/node"},
		{"schema/planted.go", "github.com/pulumi/pulumi/sdk/v3/go/pulumi"},
		{"assets/node/planted.go", module + "/components/telemetry"},
		{"dashboards/planted.go", module + "/stacks"},
		{"components/emr/planted.go", module + "/stacks/config"},
		{"components/emr/planted.go", module + "/localcloud"},
		{"stacks/planted.go", module + "/simulator"},
		{"stacks/planted.go", module + "/cmd/observatory"},
		{"stacks/outputs/planted.go", module + "/components/emr"},
		{"simulator/rules/planted.go", module + "/platform"},
		{"simulator/planted_test.go", module + "/platform"},
		{"localcloud/emr/planted.go", module + "/assets/node"},
		{"localcloud/emr/planted_test.go", module + "/components/emr"},
		{"localcloud/planted.go", module + "/dashboards"},
		{"toolchain/doctor/planted.go", module + "/localcloud"},
		{"internal/engine/planted.go", module + "/internal/recorder"},
		{"planted.go", module + "/components/emr"},
	} {
		t.Run(planted.path+" "+planted.imports, func(t *testing.T) {
			files, err := sources(fstest.MapFS{planted.path: {Data: []byte("package planted\n\nimport _ \"" + planted.imports + "\"\n")}})
			require.NoError(t, err)
			violations := forbiddenImports(files)
			require.Len(t, violations, 1)
			require.Contains(t, violations[0], planted.path+":3 imports "+planted.imports)
		})
	}
}
