package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// cut is a cut of moto's files, as recorded: all releases, and of the types one or
// more of each kind.
func cut(t *testing.T) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile("testdata/moto.json")
	require.NoError(t, err)
	var recorded struct {
		Date  string
		Files map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(data, &recorded))
	date, err := time.Parse(time.DateOnly, recorded.Date)
	require.NoError(t, err)
	files := fstest.MapFS{}
	for name, content := range recorded.Files {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := z.Write(content)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		files[name] = &fstest.MapFile{Data: packed.Bytes(), ModTime: date}
	}
	return files
}

// A refresh from what was recorded gives the committed bytes: the head of the file,
// and the line of each type that the cut has.
func TestRefreshGivesTheCommittedInstances(t *testing.T) {
	fresh, err := instances(cut(t))
	require.NoError(t, err)
	committed, err := os.ReadFile("../instances.json")
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(fresh), `"families"`)
	require.True(t, strings.HasPrefix(string(committed), head), head)
	types := 0
	for line := range strings.Lines(string(fresh)) {
		if strings.HasPrefix(line, `{"type"`) || strings.HasPrefix(line, `{"family"`) {
			require.Contains(t, string(committed), strings.TrimRight(line, ",\n"))
			types++
		}
	}
	require.Greater(t, types, 20)
}

func TestExtractsInstanceTypes(t *testing.T) {
	fresh, err := instances(cut(t))
	require.NoError(t, err)
	var file facts.InstanceTypes
	require.NoError(t, json.Unmarshal(fresh, &file))
	require.Equal(t, "emr-6.15.0", file.Releases[0])
	require.NotContains(t, file.Releases, "emr-spark-8.0.0")
	named := map[string]facts.InstanceType{}
	for _, one := range file.Types {
		named[one.Name] = one
	}
	require.Equal(t, 8, named["m4.xlarge"].EMR.VCPUs, "EMR gives YARN twice the processors of m4")
	require.Equal(t, 4, named["m4.xlarge"].VCPUs)
	require.Equal(t, "arm64", named["m6gd.xlarge"].Arch)
	require.Equal(t, &facts.Stores{Count: 1, GB: 237, Type: "ssd", NVMe: true}, named["m6gd.xlarge"].Stores)
	require.Nil(t, named["p2.xlarge"].EBS, "EC2 does not answer for it any more")
	require.Equal(t, 3, named["d3.8xlarge"].EBS.Volumes)
	require.Contains(t, named["g6.xlarge"].NotIn, "emr-7.1.0")
	require.NotContains(t, named["g6.xlarge"].NotIn, "emr-7.2.0")
	require.NotContains(t, named, "r5.large")
	require.NotContains(t, named, "t3.medium", "EC2 has it, EMR does not take it")
	require.Contains(t, string(fresh), `{"family":"t3","arch":"x86_64","nitro":true}`)
	require.Contains(t, string(fresh), `{"family":"m4","arch":"x86_64"}`)
}

func TestMissingFilesAreNamed(t *testing.T) {
	files := cut(t)
	delete(files, ofEC2)
	_, err := instances(files)
	require.ErrorContains(t, err, ofEC2)
}
