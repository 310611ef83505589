// Package requests has the limits of requests to REST APIs that every source of history keeps: how
// often one is repeated, and how long is waited. It sends none.
package requests

import (
	"net/http"
	"strconv"
	"time"
)

const (
	Tries         = 5                // of one request
	MaxPause      = 30               // between two tries, in units of the first pause
	MaxRetryAfter = 2 * time.Minute  // longer waits in Retry-After are cut
	IdleTimeout   = 60 * time.Second // without any data of a download
)

// RetryAfter parses the header of that name, which holds seconds or a date. ok is false if it holds
// neither.
func RetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(0, time.Duration(seconds)*time.Second), MaxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), MaxRetryAfter), true
	}
	return 0, false
}
