package recorder_test

import (
	"testing"

	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// twoRandomIDs declares a RandomId with an explicit provider and one without.
func twoRandomIDs(name1, name2 string) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		p, err := random.NewProvider(ctx, "explicit", &random.ProviderArgs{})
		if err != nil {
			return err
		}
		if _, err := random.NewRandomId(ctx, name1, &random.RandomIdArgs{ByteLength: pulumi.Int(4)}, pulumi.Provider(p),
			pulumi.Protect(true)); err != nil {
			return err
		}
		_, err = random.NewRandomId(ctx, name2, &random.RandomIdArgs{ByteLength: pulumi.Int(8)})
		return err
	}
}

func TestRunRecordsRegistrations(t *testing.T) {
	rec, err := recorder.Run(twoRandomIDs("a", "b"))
	require.NoError(t, err)
	a, err := rec.One("random:index/randomId:RandomId", "a")
	require.NoError(t, err)
	require.Equal(t, "random::explicit", a.Provider)
	require.Equal(t, []string{"a"}, rec.Protected())
	require.Equal(t, []string{"random:index/randomId:RandomId b"}, rec.Defaults)
	require.InDelta(t, 4, a.Inputs["byteLength"].NumberValue(), 0)
}

func TestRunRejectsDuplicateURN(t *testing.T) {
	_, err := recorder.Run(twoRandomIDs("same", "same"))
	require.ErrorContains(t, err, "duplicate URN")
}

func TestRunRejectsEmptyProgram(t *testing.T) {
	_, err := recorder.Run(func(*pulumi.Context) error { return nil })
	require.ErrorContains(t, err, "registered nothing")
}
