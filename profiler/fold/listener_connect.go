package fold

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// operationStart takes an operation of a Spark Connect client.
func (l *listener) operationStart(e *eventlog.OperationStarted) {
	l.noteTime(e.Time)
	names := platform.ParseConnectTags(e.Tag, "")
	if names.Session == "" {
		return
	}
	l.operations[names.Number()] = &tables.Operation{
		SessionID: names.Session, OperationID: names.Operation, User: e.User, Statement: nonEmpty(strings.Clone(e.SQL())), Status: SQLRunning,
		SubmissionTime: e.Time,
	}
}

// operationJob takes a job of an operation.
func (l *listener) operationJob(e *eventlog.JobStart) {
	if !strings.Contains(e.Properties.Tags, platform.ConnectTagPrefix) {
		return
	}
	if row := l.operations[platform.ParseConnectTags(e.Properties.Tags, "").Number()]; row != nil {
		row.JobIDs = append(row.JobIDs, e.ID)
	}
}

// operationEnd writes the row of an operation. The ends that follow the first find none.
func (l *listener) operationEnd(e *eventlog.OperationEnded) error {
	l.noteTime(e.Time)
	number := platform.ParseConnectTags(e.Tag, "").Number()
	row := l.operations[number]
	if row == nil {
		return nil
	}
	delete(l.operations, number)
	row.CompletionTime, row.ErrorMessage, row.Status = e.Time, nonEmpty(e.Failure), SQLCompleted
	if e.Failure != "" {
		row.Status = SQLFailed
	}
	return l.operation(row)
}

// sessionEnd ends the operations of a session: the server does so, and may not say it.
func (l *listener) sessionEnd(e *eventlog.SessionClosed) error {
	l.noteTime(e.Time)
	for _, number := range sorted(l.operations) {
		row := l.operations[number]
		if row.SessionID != e.ID {
			continue
		}
		delete(l.operations, number)
		row.CompletionTime, row.ErrorMessage, row.Status = e.Time, new("its session was closed"), SQLFailed
		if err := l.operation(row); err != nil {
			return err
		}
	}
	return nil
}

// closeOperations writes those that are open at the end of the log.
func (l *listener) closeOperations() error {
	for _, number := range sorted(l.operations) {
		if err := l.operation(l.operations[number]); err != nil {
			return err
		}
	}
	return nil
}

// operation writes the row of an operation of Spark Connect.
func (a *attempt) operation(row *tables.Operation) error {
	row.Attempt, row.User = a.key(), a.text(row.User)
	row.Statement, row.ErrorMessage = a.optionalText(row.Statement), a.optionalText(row.ErrorMessage)
	row.DurationMillis = duration(row.SubmissionTime, row.CompletionTime)
	return a.put(row)
}
