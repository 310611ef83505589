package catalog

import (
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"
)

// grafanaTypes gives the resource types of an open-source Grafana.
func grafanaTypes() map[string]Type {
	return map[string]Type{
		"grafana:oss/dashboard:Dashboard":                             typ(oss.DashboardArgs{}, oss.DashboardState{}),
		"grafana:oss/dashboardPermission:DashboardPermission":         typ(oss.DashboardPermissionArgs{}, oss.DashboardPermissionState{}),
		"grafana:oss/dataSource:DataSource":                           typ(oss.DataSourceArgs{}, oss.DataSourceState{}),
		"grafana:oss/dataSourceConfig:DataSourceConfig":               typ(oss.DataSourceConfigArgs{}, oss.DataSourceConfigState{}),
		"grafana:oss/folder:Folder":                                   typ(oss.FolderArgs{}, oss.FolderState{}),
		"grafana:oss/folderPermission:FolderPermission":               typ(oss.FolderPermissionArgs{}, oss.FolderPermissionState{}),
		"grafana:oss/organization:Organization":                       typ(oss.OrganizationArgs{}, oss.OrganizationState{}),
		"grafana:oss/organizationPreferences:OrganizationPreferences": typ(oss.OrganizationPreferencesArgs{}, oss.OrganizationPreferencesState{}),
		"grafana:oss/playlist:Playlist":                               typ(oss.PlaylistArgs{}, oss.PlaylistState{}, "items"),
		"grafana:oss/serviceAccount:ServiceAccount":                   typ(oss.ServiceAccountArgs{}, oss.ServiceAccountState{}),
		"grafana:oss/serviceAccountToken:ServiceAccountToken":         typ(oss.ServiceAccountTokenArgs{}, oss.ServiceAccountTokenState{}),
		"grafana:oss/user:User":                                       typ(oss.UserArgs{}, oss.UserState{}),
		"grafana:oss/annotation:Annotation":                           typ(oss.AnnotationArgs{}, oss.AnnotationState{}),
	}
}
