package workspace

import (
	"context"
	"fmt"
	"time"
)

// Cluster is what the API says of a cluster (Clusters API 2.1, clusters/list).
type Cluster struct {
	ID      string `json:"cluster_id"`
	Name    string `json:"cluster_name"`
	State   string `json:"state"`         // PENDING, RUNNING, RESTARTING, RESIZING, TERMINATING, TERMINATED, ERROR or UNKNOWN
	Runtime string `json:"spark_version"` // of Databricks, such as 16.4.x-scala2.12
	// Context is Spark's context of the driver that runs or ran last; 0 if none did.
	Context    int64  `json:"spark_context_id"`
	Started    Millis `json:"start_time"`
	Terminated Millis `json:"terminated_time"` // 0 while it runs
	Reason     struct {
		Code string `json:"code"`
	} `json:"termination_reason"`
	Delivery Delivery `json:"cluster_log_conf"`
	Status   struct {
		LastException string `json:"last_exception"`
	} `json:"cluster_log_status"`
}

// Delivery says where a cluster's logs are delivered to: nowhere, or to one of these.
type Delivery struct {
	S3      *Bucket `json:"s3"`
	Volumes *Folder `json:"volumes"` // /Volumes/catalog/schema/volume/…
	DBFS    *Folder `json:"dbfs"`    // dbfs:/…
}

// Folder is a place of logs.
type Folder struct {
	Destination string `json:"destination"`
}

// Bucket is a place of logs in S3. It has a region or an endpoint.
type Bucket struct {
	Destination string `json:"destination"` // s3://bucket/prefix
	Region      string `json:"region"`
	Endpoint    string `json:"endpoint"` // https://s3.REGION.amazonaws.com
}

// Ended reports whether the cluster's machines are gone. It may be started again.
func (c Cluster) Ended() bool { return c.State == "TERMINATED" || c.State == "ERROR" }

// Millis is a time in milliseconds since 1970, 0 if there is none.
type Millis int64

// Time returns the zero time for 0.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// clusterPage is how many clusters are asked for at a time; the API takes 100 at most.
const clusterPage = 100

// Clusters lists the workspace's clusters: those that run, those that are pinned, and all that were
// terminated within 30 days. page, which may be nil, is told after each page but the last how many
// there are so far.
func (c *Client) Clusters(ctx context.Context, page func(clusters int)) ([]Cluster, error) {
	type answer struct {
		Clusters []Cluster `json:"clusters"`
		Next     string    `json:"next_page_token"`
	}
	var found []Cluster
	err := pages(ctx, c, "/api/2.1/clusters/list", clusterPage, func(a answer) (next string) {
		found = append(found, a.Clusters...)
		if page != nil && a.Next != "" {
			page(len(found))
		}
		return a.Next
	})
	if err != nil {
		return nil, fmt.Errorf("list the clusters: %w", err)
	}
	return found, nil
}
