package schema

// DataBucket stands for the name of the stack's data bucket in the properties of a
// cluster: the stack names it, so that no configuration can.
const DataBucket = "${dataBucket}"

// jupyterHub keeps notebooks in S3 if its classification jupyter-s3-conf names a bucket
// (EMR Release Guide, "Configuring persistence for notebooks in Amazon S3").
const (
	jupyterHub     = "JupyterHub"
	jupyterStorage = "jupyter-s3-conf"
	jupyterBucket  = "s3.persistence.bucket"
)

// KeepsNotebooks reports whether the cluster's JupyterHub keeps notebooks in the data bucket.
func (c Cluster) KeepsNotebooks() bool {
	bucket, _ := settingsOf(c.Configurations, "").value(jupyterStorage, jupyterBucket)
	return c.has(jupyterHub) && bucket.value == DataBucket
}
