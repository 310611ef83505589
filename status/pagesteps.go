package status

import (
	"fmt"
	"net/url"
	"slices"
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
	SoFar bool       // its phases are not all: it runs
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
			item.When, item.SoFar = "Started", true
		case step.State == types.StepStatePending:
			item.When = fmt.Sprintf("Has waited for %s", brief(p.Read.Sub(step.Created)))
		default:
			item.When = "Has not run"
		}
		if step.Started != nil {
			item.Links = p.resolve(links, p.variables(step))
		}
		if len(step.Phases) > 0 { // it is beside each application's
			item.Links = slices.DeleteFunc(item.Links, isTimeline)
		}
		items = append(items, item)
	}
	return items
}

func isTimeline(link pageLink) bool { return link.Title == platform.TimelineLink }

// withTimelines returns the steps with the URLs of their applications' timelines.
func (p page) withTimelines(steps []Step, links []Link) []Step {
	steps = slices.Clone(steps)
	for i, step := range steps {
		if step.Started == nil {
			continue
		}
		steps[i].Phases = slices.Clone(step.Phases)
		for j, of := range steps[i].Phases {
			if base := p.base(platform.WorkloadStatus); base != "" {
				steps[i].Phases[j].Page = base + ApplicationsPath + "/" + of.ApplicationID
			}
			step.ApplicationIDs = []string{of.ApplicationID}
			found := p.resolve(links, p.variables(step))
			if at := slices.IndexFunc(found, isTimeline); at >= 0 {
				steps[i].Phases[j].Timeline = found[at].URL
			}
		}
	}
	return steps
}

// Unbroken keeps each phase and its share on one line, so that a narrow window breaks
// the text between two phases.
func (page) Unbroken(line string) string {
	parts := strings.Split(line, " · ")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, " ", "\u00a0")
	}
	return strings.Join(parts, "\u00a0· ")
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

// variables are the values of a step that has started for its links, encoded for a URL.
func (p page) variables(step Step) map[string]string {
	to := p.Read
	if step.Ended != nil {
		to = step.Ended.Add(stepMargin)
	}
	from := step.Started.Add(-stepMargin)
	fromMillis, toMillis := strconv.FormatInt(from.UnixMilli(), 10), strconv.FormatInt(to.UnixMilli(), 10)
	values := map[string]string{
		platform.LinkCluster: step.Cluster, platform.LinkClusterName: p.NameOf(step.Cluster),
		platform.LinkStep: step.ID, platform.LinkTrace: step.TraceID, platform.LinkRegion: p.region,
		platform.LinkFrom: fromMillis, platform.LinkTo: toMillis,
		platform.LinkEnd:     to.UTC().Format("2006-01-02T15:04:05"),
		platform.LinkSeconds: strconv.Itoa(int(to.Sub(from).Seconds())),
	}
	if len(step.ApplicationIDs) > 0 && platform.IsYARNApplicationID(step.ApplicationIDs[0]) {
		values[platform.LinkApplication] = step.ApplicationIDs[0]
	}
	for name, value := range values {
		values[name] = url.QueryEscape(value)
	}
	values[platform.LinkTimeRange] = url.Values{"from": {fromMillis}, "to": {toMillis}}.Encode()
	return values
}
