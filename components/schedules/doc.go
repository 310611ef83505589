// Package schedules starts steps of EMR clusters, and clusters with their steps, by the clock: schedules of Amazon
// EventBridge Scheduler that call EMR's API themselves, the role for these calls, and the queue of what did not
// start. It creates no cluster, and nothing where no schedule is configured.
package schedules
