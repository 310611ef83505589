package photon

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every operator has a source, and a name that no other has.
func TestData(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range data.Operators {
		require.False(t, seen[o.Name], o.Name)
		seen[o.Name] = true
		require.Contains(t, data.Sources, o.Source, o.Name)
		require.Contains(t, []Support{Supported, Unsupported, None}, o.Support, o.Name)
	}
}

func TestClassify(t *testing.T) {
	for name, want := range map[string]struct {
		kind    string
		support Support
	}{
		"Filter":                                    {"Filter", Supported},
		"Scan parquet default.orders":               {"Scan parquet", Supported},
		"Scan csv ":                                 {"Scan csv", Supported},
		"Scan orc default.orders":                   {"Scan orc", Unknown},
		"BatchScan s3.db.orders":                    {"BatchScan s3.db.orders", Unknown},
		"Scan ExistingRDD":                          {"Scan ExistingRDD", Unsupported},
		"SortMergeJoin(skew=true)":                  {"SortMergeJoin", Supported},
		"WholeStageCodegen (3)":                     {"WholeStageCodegen", None},
		"ArrowEvalPython":                           {"ArrowEvalPython", Unsupported},
		"MapPartitionsInRWithArrow":                 {"MapPartitions", Unsupported},
		"PhotonShuffleExchangeSink":                 {"PhotonShuffleExchangeSink", Supported},
		"ObjectHashAggregate":                       {"ObjectHashAggregate", Unknown},
		"Execute InsertIntoHadoopFsRelationCommand": {"Execute InsertIntoHadoopFsRelationCommand", Unknown},
		"": {"", Unknown},
	} {
		kind, support := Classify(name)
		require.Equal(t, want.kind, kind, name)
		require.Equal(t, want.support, support, name)
	}
}
