package catalog

import (
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"
)

// grafanaTypes lists the resource types of open-source Grafana.
func grafanaTypes() []Type {
	return []Type{
		typ(oss.DashboardArgs{}, oss.DashboardState{}),
		typ(oss.DashboardPermissionArgs{}, oss.DashboardPermissionState{}),
		typ(oss.DataSourceArgs{}, oss.DataSourceState{}),
		typ(oss.DataSourceConfigArgs{}, oss.DataSourceConfigState{}),
		typ(oss.FolderArgs{}, oss.FolderState{}),
		typ(oss.FolderPermissionArgs{}, oss.FolderPermissionState{}),
		typ(oss.OrganizationArgs{}, oss.OrganizationState{}),
		typ(oss.OrganizationPreferencesArgs{}, oss.OrganizationPreferencesState{}),
		typ(oss.PlaylistArgs{}, oss.PlaylistState{}, "items"),
		typ(oss.ServiceAccountArgs{}, oss.ServiceAccountState{}),
		typ(oss.ServiceAccountTokenArgs{}, oss.ServiceAccountTokenState{}),
		typ(oss.UserArgs{}, oss.UserState{}),
		typ(oss.AnnotationArgs{}, oss.AnnotationState{}),
	}
}
