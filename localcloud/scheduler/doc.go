// Package scheduler is the local cloud's EventBridge Scheduler: schedules that call AWS APIs when
// their time has come, repeat calls that fail for a passing reason, and give what did not start to a
// dead-letter queue. As EventBridge, it checks the input of a call at the call, not when the schedule is
// created, and may make a call twice.
//
// It has no API of its own: the program's provider puts the schedules. It knows no service that it calls.
package scheduler
