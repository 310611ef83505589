package runjobflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ScheduledSteps renders the input of AddJobFlowSteps as a target of EventBridge Scheduler has it:
// JSON with the API's own member names. The schedule's key and time are in each step's name.
func ScheduledSteps(clusterID, schedule string, list []schema.Step) (string, error) {
	return Members(&emr.AddJobFlowStepsInput{JobFlowId: aws.String(clusterID), Steps: steps(named(schedule, list))})
}

// ScheduledCluster renders the input of RunJobFlow as such a target has it: the cluster runs the steps, named as
// those of ScheduledSteps. Its own name is the same in each run, so that dashboards show them side by side.
func ScheduledCluster(c schema.Cluster, e Environment, schedule string, list []schema.Step) (string, error) {
	c.Steps = named(schedule, list)
	return Members(Input(c, e))
}

// named returns steps with the schedule's key and time in their names.
func named(schedule string, list []schema.Step) []schema.Step {
	out := slices.Clone(list)
	for i, s := range out {
		out[i].Name = platform.ScheduledStep(s.Name, schedule, platform.ScheduledTime)
	}
	return out
}

// Members renders an input of EMR's API as JSON without the members that are not set. Angle brackets stay
// as they are: EventBridge Scheduler looks for them.
func Members(input any) (string, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return "", fmt.Errorf("render input: %w", err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return "", fmt.Errorf("render input: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(prune(plain)); err != nil {
		return "", fmt.Errorf("render input: %w", err)
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

// prune removes what Go's types hold without a value, and empty lists. An empty text is a value where users write
// it: as that of a property, or as the description of a rule.
func prune(v any) any {
	const propertiesOfConfiguration = "Properties" // texts by name; those of a step are a list
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if k == propertiesOfConfiguration {
				if _, texts := e.(map[string]any); texts {
					continue
				}
			}
			if list, is := e.([]any); is && len(list) == 0 || e == nil || e == "" && k != "Value" && k != "Description" {
				delete(v, k)
				continue
			}
			v[k] = prune(e)
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}
