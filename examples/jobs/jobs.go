// Package jobs holds the Spark job that shows a new platform at work, and jobs that are each
// slow for one reason.
package jobs

import "embed"

// Orders is orders.py.
//
//go:embed orders.py
var Orders []byte

// Sick are the jobs in the folder sick, each of which rules of package rules find slow.
//
//go:embed sick/*.py
var Sick embed.FS
