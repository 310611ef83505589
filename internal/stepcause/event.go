package stepcause

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// level is what the level of a log event says about causes.
type level struct {
	inline        weight // of its first line
	follows       weight // of the lines after it; 0: they need not belong to it
	isInformation bool
}

// Levels by name: of log4j, java.util.logging and Python. What follows an information is
// mostly printed by the job, which has no layout.
var levels = map[string]level{
	"TRACE": information, "DEBUG": information, "INFO": information,
	"WARN": warning, "WARNING": warning,
	"ERROR": failure, "FATAL": failure, "CRITICAL": failure, "SEVERE": failure,
}

var (
	information = level{inline: handled, isInformation: true}
	warning     = level{inline: handled, follows: handled}
	failure     = level{inline: logged, follows: logged}
)

const levelNames = `(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)`

var (
	// timedEvent begins with a time, mostly after a date: Spark's and Hadoop's log4j, EMR's
	// controller, Logback, and Python's logging, which puts the logger before the level.
	timedEvent = regexp.MustCompile(
		`^\[?(?:\d{2,4}[-/]\d\d[-/]\d\d[ T])?\d\d:\d\d:\d\d\S*(?: +\S+){0,3}? +\[?` + levelNames + `\]?:?(?: (.*)|)$`)
	// leveledEvent begins with the level: log4j's %p, java.util.logging, Python's default.
	leveledEvent = regexp.MustCompile(`^\[?` + levelNames + `(?:\]:?|:| ) *(.*)$`)
)

// event is the first line of a log event. lines are further ones, which a layout of JSON
// has on the same line.
type event struct {
	level   level
	message string
	lines   []string
}

// parseEvent returns the log event that begins with a line.
func parseEvent(line string) (event, bool) {
	for _, layout := range []*regexp.Regexp{timedEvent, leveledEvent} {
		if found := layout.FindStringSubmatch(line); found != nil {
			return event{level: levels[found[1]], message: " " + found[2]}, true
		}
	}
	if strings.HasPrefix(line, `{"`) {
		return parseJSON(line)
	}
	return event{}, false
}

// jsonEvent has the fields of Spark 4's structured logs (spark.log.structuredLogging.enabled)
// and of log4j's JsonLayout and ECS layout.
type jsonEvent struct {
	Level     string `json:"level"`
	LogLevel  string `json:"log.level"`
	Logger    string `json:"logger"`
	Message   string `json:"message"`
	Msg       string `json:"msg"`
	Exception struct {
		Class string `json:"class"`
		Msg   string `json:"msg"`
		Stack []struct {
			Class, Method, File string
			Line                int
		} `json:"stacktrace"`
	} `json:"exception"`
	Thrown struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	} `json:"thrown"`
	ErrorType    string `json:"error.type"`
	ErrorMessage string `json:"error.message"`
	ErrorTrace   string `json:"error.stack_trace"`
}

func parseJSON(line string) (event, bool) {
	var of jsonEvent
	if json.Unmarshal([]byte(line), &of) != nil {
		return event{}, false
	}
	level, ok := levels[strings.ToUpper(of.Level+of.LogLevel)]
	if !ok {
		return event{}, false
	}
	found := event{level: level, message: " " + of.Logger + ": " + of.Message + of.Msg}
	class, message := of.Exception.Class+of.Thrown.Name+of.ErrorType, of.Exception.Msg+of.Thrown.Message+of.ErrorMessage
	switch {
	case of.ErrorTrace != "":
		found.lines = strings.Split(of.ErrorTrace, "\n")
	case class != "":
		found.lines = strings.Split(class+": "+message, "\n")
	}
	for _, frame := range of.Exception.Stack {
		found.lines = append(found.lines, fmt.Sprintf("\tat %s.%s(%s:%d)", frame.Class, frame.Method, frame.File, frame.Line))
	}
	return found, true
}

// Message returns what EMR says of a failure, "" if that is a log event below an error:
// EMR copies a line of a log, which need not be the cause.
func Message(line string) string {
	if event, ok := parseEvent(strings.TrimSpace(line)); ok && event.level != failure {
		return ""
	}
	return line
}
