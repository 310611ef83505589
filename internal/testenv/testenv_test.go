package testenv_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// outcome records how a test ended.
type outcome struct {
	testing.TB
	skipped, failed string
}

func (o *outcome) Helper()           {}
func (o *outcome) Skip(args ...any)  { o.skipped = fmt.Sprint(args...) }
func (o *outcome) Fatal(args ...any) { o.failed = fmt.Sprint(args...) }

func TestRequireSkipsLocallyAndFailsInCI(t *testing.T) {
	for _, c := range []struct {
		ci              string
		ok              bool
		skipped, failed string
	}{
		{ci: "", ok: true},
		{ci: "true", ok: true},
		{ci: "", skipped: "no shellcheck"},
		{ci: "true", failed: "in CI nothing may be skipped: no shellcheck"},
	} {
		t.Setenv("CI", c.ci)
		var o outcome
		testenv.Require(&o, c.ok, "no shellcheck")
		require.Equal(t, c.skipped, o.skipped)
		require.Equal(t, c.failed, o.failed)
	}
}

func TestAddressIsNeverReservedTwice(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		address := testenv.Address(t)
		require.False(t, seen[address], address)
		seen[address] = true
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, listener.Close())
	}
}
