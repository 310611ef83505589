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
	ended := map[string]int{}
	var worst *opened
	for i, o := range all {
		words, _ := pages.Outcome(o.Application)
		ended[strings.ToLower(words)]++
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
	if worst == nil {
		return text + " Nothing was beyond a rule's limit."
	}
	return text + " Most costly: in " + worst.ApplicationID + ", " + costOf(worst.findings[0])
}

// verdict says how an application went, and what cost most.
func verdict(o opened) string {
	text, failed := pages.Outcome(o.Application)
	if o.DurationMillis != nil {
		text += " after " + rules.Format(float64(*o.DurationMillis), rules.Milliseconds)
	}
	if failed {
		if cause := causeOf(o); cause != "" {
			return text + ": " + said(cause)
		}
	}
	if o.held.Judged == "" {
		return text + ". It is not judged yet."
	}
	if len(o.findings) == 0 {
		return text + ". Nothing was beyond a rule's limit."
	}
	return text + ". Most costly: " + costOf(o.findings[0])
}

// causeOf says why an application failed; "" if that is unknown.
func causeOf(o opened) string {
	if o.FailureCause != nil {
		return *o.FailureCause
	}
	for _, f := range o.findings {
		if f.Finding == string(rules.JobFailure) {
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
