package architecture

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestLimitsOfTestsAreScaled(t *testing.T) {
	files, err := sources(os.DirFS(repository))
	require.NoError(t, err)
	require.Empty(t, literalLimits(files))
}

func TestReportsLiteralLimits(t *testing.T) {
	const text = `package planted
func test() {
	require.Eventually(t, ok, time.Minute, time.Second)
	poll.Until(ctx, poll.Options{Interval: time.Second, Timeout: 20 * time.Second}, nil)
	<-time.After(2 * time.Minute)
	context.WithTimeout(ctx, time.Minute)
	<-time.After(time.Second) // a pause
	context.WithTimeout(ctx, testenv.Answer.Scaled())
	poll.Until(ctx, poll.Options{Interval: time.Second}, nil)
}
`
	files, err := sources(fstest.MapFS{
		"planted_test.go": {Data: []byte(text)}, "planted.go": {Data: []byte(text)},
		"bubble_test.go": {Data: []byte("package planted\nimport \"testing/synctest\"\nvar _ = time.After(time.Hour)\n")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"planted_test.go:3 waits with testify: use testenv.Eventually",
		"planted_test.go:4 polls with a literal limit: use testenv.Poll",
		"planted_test.go:5 has a literal limit: take one of testenv's",
		"planted_test.go:6 has a literal limit: take one of testenv's",
	}, literalLimits(files))
}
