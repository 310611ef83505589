// Package steptelemetry sends telemetry of EMR steps from the control node: one span
// for each step that has ended, whoever submitted it, and metrics of their number and
// duration.
//
// EMR sends no event when a step ends, so the steps of all clusters that report are
// read in the background. A span has the ids that the step's arguments carry, or a hash
// of the step's id, so a repeated span is the same span. A small file keeps what was
// read, so that a restart repeats nothing; asking Tempo instead would be a search for
// each step, and no answer while Tempo is down.
//
// It is not the status page, which shows the last steps, and stores no telemetry.
package steptelemetry
