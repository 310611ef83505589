package storage

import (
	"errors"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Validate reports every violation of the arguments at once.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("storage: arguments are nil; pass *storage.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, "storage.region", a.Region)
	a.Retention.Validate(&l, "retention")
	return l.Err()
}
