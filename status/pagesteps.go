package status

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// stepMargin widens a step's time range in links: sources report every few seconds,
// and clocks differ.
const stepMargin = time.Minute

// stepItem is a step on the page.
type stepItem struct {
	Step
	Kind  string     // of its state, for the style
	When  string     // how long it took; a step that has started has the time of that after it
	Links []pageLink // none before it has started
}

// steps lays the last steps out with their links.
func (p page) steps(links []Link) []stepItem {
	items := make([]stepItem, 0, len(p.Steps))
	for _, step := range p.Steps {
		item := stepItem{Step: step, Kind: kindOf(step.State)}
		switch {
		case step.Started != nil && step.Ended != nil:
			item.When = fmt.Sprintf("Took %s, started", brief(step.Took(p.Read)))
		case step.Started != nil:
			item.When = "Started"
		case step.State == types.StepStatePending:
			item.When = fmt.Sprintf("Has waited for %s", brief(p.Read.Sub(step.Created)))
		default:
			item.When = "Has not run"
		}
		if step.Started != nil {
			item.Links = p.resolve(links, p.variables(step))
		}
		items = append(items, item)
	}
	return items
}

// brief writes a duration as people say it: seconds matter in the first minutes only.
func brief(d time.Duration) string {
	const seconds = 10 * time.Minute // until here
	if d < seconds {
		return max(0, d).Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// kindOf returns the style of a state. The state itself is always text, too.
func kindOf(state types.StepState) string {
	switch state {
	case types.StepStateCompleted:
		return "good"
	case types.StepStateFailed, types.StepStateInterrupted:
		return "bad"
	case types.StepStateRunning:
		return "running"
	}
	return ""
}

// application matches YARN's ids. Those of a step may come from its log.
var application = regexp.MustCompile(`^` + platform.YARNApplicationID + `$`)

// variables are the values of a step that has started for its links, encoded for a URL.
func (p page) variables(step Step) map[string]string {
	to := p.Read
	if step.Ended != nil {
		to = step.Ended.Add(stepMargin)
	}
	from := step.Started.Add(-stepMargin)
	fromMillis, toMillis := strconv.FormatInt(from.UnixMilli(), 10), strconv.FormatInt(to.UnixMilli(), 10)
	values := map[string]string{
		platform.LinkCluster: step.Cluster, platform.LinkStep: step.ID, platform.LinkTrace: step.TraceID, platform.LinkRegion: p.region,
		platform.LinkFrom: fromMillis, platform.LinkTo: toMillis,
		platform.LinkEnd:     to.UTC().Format("2006-01-02T15:04:05"),
		platform.LinkSeconds: strconv.Itoa(int(to.Sub(from).Seconds())),
	}
	if len(step.ApplicationIDs) > 0 && application.MatchString(step.ApplicationIDs[0]) {
		values[platform.LinkApplication] = step.ApplicationIDs[0]
	}
	for name, value := range values {
		values[name] = url.QueryEscape(value)
	}
	values[platform.LinkTimeRange] = url.Values{"from": {fromMillis}, "to": {toMillis}}.Encode()
	return values
}
