// Package jobs holds the Spark job that shows a new platform at work.
package jobs

import _ "embed"

// Orders is orders.py.
//
//go:embed orders.py
var Orders []byte
