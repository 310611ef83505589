package controls_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/tests/canary"
)

// TestGivenKeyIsNowhereInPlainText runs the whole program with a certificate of the
// user's own, and searches everything that it wrote for the private key.
func TestGivenKeyIsNowhereInPlainText(t *testing.T) {
	const domain = "observatory.example.com"
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), domain)
	section, err := json.Marshal(map[string]any{
		"certificate": map[string]string{"domain": domain, "chain": issued.Chain(), "key": issued.Key},
	})
	require.NoError(t, err)
	run := runLifecycle(t, trial.Program(trial.Materials(t)), "local",
		map[string]string{platform.Project + ":controlNode": string(section)})
	search, err := canary.New([]string{issued.Chain()}, canary.Secret{Name: "the certificate's key", Value: issued.Key})
	require.NoError(t, err)
	require.Empty(t, run.leaks(t, search))

	deployed := 0
	for _, r := range run.resources {
		eachSecret(t, r.Inputs, false, func(s string) {
			if s == issued.Key {
				deployed++
			}
		})
	}
	require.Equal(t, 3, deployed, "the Secrets of Grafana, the status server and the tools")
}
