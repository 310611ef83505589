package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// editObject is the remedy of faults that are in S3.
const editObject = "edit the object, and upload it again"

// WithSteps returns a valid configuration with the steps that its schedules have in S3, and what it warns of. texts are
// the objects by the schedules' keys: JSON lists with the keys of schedules.*.steps. All violations come in one error;
// their paths begin with schedules.*.stepsFrom.
func WithSteps(cfg schema.Config, texts map[string]string) (schema.Config, []violation.Violation, error) {
	l := violation.List{Prefix: namespace, Remedy: editObject}
	cfg.Schedules = maps.Clone(cfg.Schedules)
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		steps, err := decodeSteps(key, texts[key])
		if err != nil {
			l.Add(err)
			continue
		}
		s := cfg.Schedules[key]
		s.Steps = steps
		cfg.Schedules[key] = s
		cfg.CheckScheduledSteps(&l, key, "schedules."+key+".stepsFrom", steps)
	}
	return cfg, l.Warnings(), l.Err()
}

// decodeSteps decodes an object. What cannot be decoded may hold a secret, and is not shown.
func decodeSteps(schedule, text string) ([]schema.Step, error) {
	of := violation.List{Prefix: fmt.Sprintf("%sschedules.%s.", namespace, schedule), Remedy: editObject}
	var syntax *json.SyntaxError
	if err := json.Unmarshal([]byte(text), new(any)); errors.As(err, &syntax) {
		rule := fmt.Sprintf("must be a JSON list of steps; its syntax ends at byte %d", syntax.Offset)
		of.Require(false, "stepsFrom", violation.Hidden, rule, "")
		return nil, of.Err()
	}
	var read struct {
		Steps []schema.Step `json:"stepsFrom"`
	}
	of.Hide("stepsFrom")
	decode.Into(map[string]string{"stepsFrom": text}, &read, &of)
	return read.Steps, of.Err()
}
