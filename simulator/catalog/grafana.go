package catalog

import (
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"
)

// grafanaTypes lists the resource types of open-source Grafana.
func grafanaTypes() []Type {
	return []Type{
		typ(oss.DashboardArgs{}, oss.DashboardState{}),
		typ(oss.DataSourceArgs{}, oss.DataSourceState{}),
		typ(oss.FolderArgs{}, oss.FolderState{}),
	}
}
