package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/local"
)

// What up suggests can be run as it stands: the names are those of this cloud, and no secret
// is among them.
func TestUpSuggestsCommandsThatRun(t *testing.T) {
	program := os.Args
	os.Args = []string{"bin/observatory", "up"}
	t.Cleanup(func() { os.Args = program })
	var out bytes.Buffer
	r := local.Result{
		Bucket: "data-1", Clusters: map[string]string{"main": "j-1", "adhoc": "j-2"}, Profile: "/s/aws-config",
		URLs: map[string]string{"s3": "http://127.0.0.1:1", "emr": "http://127.0.0.1:2"},
	}
	s := settings{state: "/s", stack: defaultStack}
	s.printNext(&out, r)
	aws := "  AWS_CONFIG_FILE=/s/aws-config aws --profile observatory-local --endpoint-url "
	for _, want := range []string{
		"  bin/observatory --state /s submit --wait --cluster adhoc " + exampleFile() + " s3://data-1/lake/try ",
		aws + "http://127.0.0.1:1 s3 ls s3://data-1/lake/\n", aws + "http://127.0.0.1:2 emr list-clusters --active\n",
	} {
		require.Contains(t, out.String(), want)
	}
	require.FileExists(t, exampleFile())
}
