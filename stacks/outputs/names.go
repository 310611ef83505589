package outputs

import "slices"

// flat lists the outputs that are also exported on their own.
func flat() []string {
	return []string{
		DataBucket, S3Paths, KMSKeyARN, ControlInstanceID, ControlVolumeID, ControlPrivateIP, ControlPublicIP, Clusters, Schedules, Athena, Cost,
		Observe, GrafanaURL, StatusURL, ToolsURL, CACertificate,
	}
}

// secretNames lists the secret outputs.
func secretNames() []string { return []string{Kubeconfig, GrafanaPassword, StatusPassword, ToolsToken} }

// Names lists every output of the stack.
func Names() []string { return slices.Concat(flat(), []string{Observatory}, secretNames()) }
