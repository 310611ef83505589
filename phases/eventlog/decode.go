package eventlog

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/emr-observatory/emr-observatory/phases"
)

const sqlEvents = "org.apache.spark.sql.execution.ui."

// decode returns the event of a line; nil if it is of a kind that this project does
// not use.
func decode(line []byte) (phases.Event, error) {
	name, err := eventName(line)
	if err != nil {
		return nil, err
	}
	switch name {
	case "SparkListenerTaskEnd":
		return as[taskEnd](line)
	case "SparkListenerTaskStart":
		return as[taskStart](line)
	case "SparkListenerStageSubmitted":
		return as[stageSubmitted](line)
	case "SparkListenerStageCompleted":
		return as[stageCompleted](line)
	case "SparkListenerJobStart":
		return as[jobStart](line)
	case "SparkListenerJobEnd":
		return as[jobEnd](line)
	case sqlEvents + "SparkListenerSQLExecutionStart":
		return as[sqlStart](line)
	case sqlEvents + "SparkListenerSQLAdaptiveExecutionUpdate":
		return as[sqlPlan](line)
	case sqlEvents + "SparkListenerSQLExecutionEnd":
		return as[sqlEnd](line)
	case "SparkListenerExecutorAdded":
		return as[executorAdded](line)
	case "SparkListenerExecutorRemoved":
		return as[executorRemoved](line)
	case "SparkListenerBlockManagerAdded":
		return as[blockManagerAdded](line)
	case "SparkListenerEnvironmentUpdate":
		return as[environmentUpdate](line)
	case "SparkListenerApplicationStart":
		return as[applicationStart](line)
	case "SparkListenerApplicationEnd":
		return as[applicationEnd](line)
	case "SparkListenerLogStart":
		return as[logStart](line)
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

func as[T interface{ event() phases.Event }](line []byte) (phases.Event, error) {
	var parsed T
	if err := unmarshal(line, &parsed); err != nil {
		return nil, err
	}
	return parsed.event(), nil
}

func unmarshal(line []byte, into any) error {
	return json.Unmarshal(line, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
