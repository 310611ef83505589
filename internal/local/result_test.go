package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/local"
)

// The status page leads to the others, to Grafana only if it runs.
func TestServicesBeginWithTheStatusPage(t *testing.T) {
	services := local.Services(false)
	require.Equal(t, local.Service{Name: "status", Title: "status", Path: "/status"}, services[0])
	var names []string
	for _, s := range services {
		require.NotEmpty(t, s.Title)
		names = append(names, s.Name)
	}
	require.Equal(t, []string{
		"status", "resourcemanager", "history", "victoria-metrics", "victoria-logs", "tempo", "pyroscope", "s3", "emr",
	}, names)
	require.Contains(t, local.Services(true), local.Service{Name: "grafana", Title: "dashboards (Grafana)", Path: "/"})
}
