// Package schedule computes when a schedule of Amazon EventBridge Scheduler starts: the times of
// its cron and rate expressions in a time zone, as the User Guide describes them ("Schedule types
// on EventBridge Scheduler").
//
// A local time that a clock change skips is not run; one that it repeats is run once. One-time
// schedules (at) are not supported. The package starts nothing and reads no clock.
package schedule

import _ "time/tzdata" // zones for machines that have none
