package tools

import "time"

// SetNow replaces the clock of FromSource's rows.
func SetNow(rows Rows, now func() time.Time) { rows.(*inSource).now = now }
