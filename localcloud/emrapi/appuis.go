package emrapi

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// AppUIs are the web pages of clusters behind presigned URLs: the persistent Spark
// history of any cluster, and the live pages of running ones.
type AppUIs interface {
	// Attach blocks until the persistent UI of a cluster can be opened.
	Attach(ctx context.Context, clusterID string) error
	// Presign returns a URL that opens a page once, for a while.
	Presign(p Page) (string, error)
	// QuotaFull reports whether the account is to be treated as if it had as many
	// persistent UIs as it may.
	QuotaFull() bool
	// Expired reports whether the history of a cluster that ended then is gone, and
	// with it its persistent UIs.
	Expired(ended time.Time) bool
}

// Page is what a presigned URL opens.
type Page struct {
	ClusterID     string
	Live          types.OnClusterAppUIType // of a running cluster; "" = its persistent Spark history
	ApplicationID string                   // in YARN; "" = the page that lists all
}

// Options are what a Server can do without.
type Options struct {
	// UIs are the pages of clusters. A server without refuses the operations on them.
	UIs AppUIs
	// SeesProfile reports whether EMR sees an instance profile, given by name or ARN. A
	// server without sees any.
	SeesProfile func(profile string) bool
}
