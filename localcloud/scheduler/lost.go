package scheduler

import (
	"errors"
	"strconv"
	"time"
)

// Lost is a call that was not made: a dead-letter event.
type Lost struct {
	Condition string // why it is not repeated; "": it is
	Code      string // of the service's answer
	Message   string
	Schedule  string // ARN
	Target    string // ARN
	Scheduled time.Time
	Retries   int
	Input     string
}

// Attributes returns the attributes of the event's message; its body is the input (Scheduler User Guide,
// "Configuring a dead-letter queue").
func (l Lost) Attributes() map[string]string {
	return map[string]string{
		"ERROR_CODE": l.Code, "ERROR_MESSAGE": l.Message, "EXHAUSTED_RETRY_CONDITION": l.Condition, "IS_PAYLOAD_TRUNCATED": "false",
		"RETRY_ATTEMPTS": strconv.Itoa(l.Retries), "SCHEDULED_TIME": l.Scheduled.UTC().Format(time.RFC3339), "SCHEDULE_ARN": l.Schedule,
		"TARGET_ARN": l.Target,
	}
}

// Conditions under which a call is not repeated.
const (
	retriesExhausted = "MaximumRetryAttempts"
	ageExhausted     = "MaximumEventAgeInSeconds"
	notRetryable     = "NonRetryableError"
)

// lost returns the event of a failure, whose condition is empty if the call is repeated.
func (c *call) lost(failure error, now time.Time) Lost {
	l := Lost{
		Code: "InternalFailure", Message: failure.Error(), Schedule: c.Schedule.ARN, Target: c.Schedule.Target, Scheduled: c.Scheduled,
		Retries: c.Tries - 1, Input: string(input(c)),
	}
	var refused *CallError
	isRefused := errors.As(failure, &refused)
	if isRefused {
		l.Code, l.Message = refused.Code, refused.Message
	}
	switch {
	case isRefused && !refused.Retryable:
		l.Condition = notRetryable
	case c.Tries > c.Schedule.Retries:
		l.Condition = retriesExhausted
	case now.Add(backoff(c.Tries)).Sub(c.Began) > c.Schedule.MaxAge:
		l.Condition = ageExhausted
	}
	return l
}
