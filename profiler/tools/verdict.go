package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/pages"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// verdictOf says in a sentence or two how applications went, and what cost most.
func verdictOf(what string, all []opened) string {
	if len(all) == 1 {
		return verdict(all[0])
	}
	ended, unjudged := map[string]int{}, 0
	var worst *opened
	for i, o := range all {
		words, _ := pages.Outcome(o.Application)
		ended[strings.ToLower(words)]++
		if !o.judged() {
			unjudged++
		}
		if len(o.findings) > 0 && (worst == nil || known(o.findings[0].Impact) > known(worst.findings[0].Impact)) {
			worst = &all[i]
		}
	}
	var parts []string
	for words, n := range ended {
		parts = append(parts, fmt.Sprintf("%d %s", n, words))
	}
	slices.Sort(parts)
	text := fmt.Sprintf("%s: %s: %s.", what, counted(len(all), "application"), strings.Join(parts, ", "))
	if unjudged > 0 {
		text += fmt.Sprintf(" %d of them not judged yet.", unjudged)
	}
	switch {
	case worst != nil:
		text += " Most costly: in " + worst.ApplicationID + ", " + costOf(worst.findings[0])
	case unjudged < len(all):
		text += " Nothing was beyond a rule's limit."
	}
	return text
}

// verdict says how an application went, and what cost most.
func verdict(o opened) string {
	text, failed := pages.Outcome(o.Application)
	if o.DurationMillis != nil {
		text += " after " + rules.Format(float64(*o.DurationMillis), rules.Milliseconds)
	}
	if failed {
		if cause := causeOf(o); cause != "" {
			return text + ": " + mark(cause)
		}
	}
	switch {
	case !o.judged():
		return text + ". It is not judged yet."
	case len(o.findings) == 0:
		return text + ". Nothing was beyond a rule's limit."
	}
	return text + ". Most costly: " + costOf(o.findings[0])
}

// lastFailure is what the finding of a failed application says before the cause that Spark knows.
const lastFailure = "The last failure in it: "

// causeOf says why an application failed; "" if that is unknown.
func causeOf(o opened) string {
	if o.FailureCause != nil {
		return *o.FailureCause
	}
	for _, f := range o.findings {
		if f.Finding == string(rules.JobFailure) {
			if _, cause, is := strings.Cut(f.Summary, lastFailure); is {
				return cause
			}
			return f.Summary
		}
	}
	return ""
}

// costOf says what a finding cost.
func costOf(f tables.Finding) string {
	text := strings.ToLower(titleOf(f.Finding))
	switch {
	case f.Impact != nil && f.ImpactRate != nil:
		text += fmt.Sprintf(", up to %s (%s)", rules.Format(float64(*f.Impact), rules.Milliseconds), rules.Format(*f.ImpactRate, rules.Share))
	case f.CoreHours != nil:
		text += ", " + rules.Format(*f.CoreHours, rules.CoreHours)
	}
	return text + "."
}

// titleOf names a rule; a newer version's rules have no other name here than their id.
func titleOf(id string) string {
	if rule, known := rules.Find(rules.ID(id)); known {
		return rule.Title
	}
	return id
}
