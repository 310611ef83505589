package eventlog

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Prefixes of the names of events that Spark writes by their class.
const (
	coreEvents = "org.apache.spark.scheduler."
	sqlEvents  = "org.apache.spark.sql.execution.ui."
)

// decoder turns lines into events. It uses the memory of an event again for the next.
type decoder struct {
	words words
}

// decode returns the event of a line; nil if it is of a kind that this project does
// not use.
func (d *decoder) decode(line []byte) (Event, error) {
	name, err := eventName(line)
	if err != nil {
		return nil, err
	}
	switch name {
	case "SparkListenerTaskEnd":
		return as[taskEnd](d, line)
	case "SparkListenerTaskStart":
		return as[taskStart](d, line)
	}
	if rest, ok := strings.CutPrefix(name, sqlEvents); ok {
		return d.sql(rest, line)
	}
	switch strings.TrimPrefix(name, coreEvents) {
	case "SparkListenerStageSubmitted":
		return as[stageSubmitted](d, line)
	case "SparkListenerStageCompleted":
		return as[stageCompleted](d, line)
	case "SparkListenerStageExecutorMetrics":
		return as[stageExecutorMetrics](d, line)
	case "SparkListenerJobStart":
		return as[jobStart](d, line)
	case "SparkListenerJobEnd":
		return as[jobEnd](d, line)
	}
	return d.application(strings.TrimPrefix(name, coreEvents), line)
}

// application decodes events of the application and its executors.
func (d *decoder) application(name string, line []byte) (Event, error) {
	switch name {
	case "SparkListenerExecutorAdded":
		return as[executorAdded](d, line)
	case "SparkListenerResourceProfileAdded":
		return as[resourceProfileAdded](d, line)
	case "SparkListenerExecutorRemoved":
		return as[executorRemoved](d, line)
	case "SparkListenerExecutorExcluded", "SparkListenerExecutorBlacklisted":
		return as[executorExcluded](d, line)
	case "SparkListenerExecutorUnexcluded", "SparkListenerExecutorUnblacklisted":
		return as[executorUnexcluded](d, line)
	case "SparkListenerNodeExcluded", "SparkListenerNodeBlacklisted":
		return as[executorExcluded](d, line)
	case "SparkListenerNodeUnexcluded", "SparkListenerNodeUnblacklisted":
		return as[executorUnexcluded](d, line)
	case "SparkListenerBlockManagerAdded":
		return as[blockManagerAdded](d, line)
	case "SparkListenerBlockManagerRemoved":
		return as[blockManagerRemoved](d, line)
	case "SparkListenerEnvironmentUpdate":
		return as[environmentUpdate](d, line)
	case "SparkListenerApplicationStart":
		return as[applicationStart](d, line)
	case "SparkListenerApplicationEnd":
		return as[applicationEnd](d, line)
	case "SparkListenerLogStart":
		return as[logStart](d, line)
	}
	return nil, nil //nolint:nilnil // no event is no error
}

func (d *decoder) sql(name string, line []byte) (Event, error) {
	switch name {
	case "SparkListenerSQLExecutionStart":
		return as[sqlStart](d, line)
	case "SparkListenerSQLAdaptiveExecutionUpdate":
		return as[sqlPlan](d, line)
	case "SparkListenerSQLAdaptiveSQLMetricUpdates":
		return as[sqlMetrics](d, line)
	case "SparkListenerDriverAccumUpdates":
		return as[driverAccumulators](d, line)
	case "SparkListenerSQLExecutionEnd":
		return as[sqlEnd](d, line)
	}
	return nil, nil //nolint:nilnil // no event is no error
}

// eventName returns the kind of a line's event. Spark writes it first, which saves
// parsing the lines that nobody wants.
func eventName(line []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"Event":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			return string(name), nil
		}
	}
	var named struct {
		Event string `json:"Event"`
	}
	if err := unmarshal(line, &named); err != nil {
		return "", err
	}
	if named.Event == "" {
		return "", fmt.Errorf("no field Event: %.60s", line)
	}
	return named.Event, nil
}

func as[T any, P interface {
	*T
	event(d *decoder) Event
}](d *decoder, line []byte) (Event, error) {
	var parsed T
	if err := unmarshal(line, &parsed); err != nil {
		return nil, err
	}
	return P(&parsed).event(d), nil
}

func unmarshal(line []byte, into any) error {
	return json.Unmarshal(line, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
