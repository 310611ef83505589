package dashboards_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
)

// A step has every link both where Grafana runs and where only the stores do, with
// variables that the status page knows.
func TestStepLinks(t *testing.T) {
	known := []string{
		platform.LinkCluster, platform.LinkClusterName, platform.LinkStep, platform.LinkTrace, platform.LinkApplication, platform.LinkRegion,
		platform.LinkEnd, platform.LinkSeconds, platform.LinkFrom, platform.LinkTo, platform.LinkTimeRange,
	}
	onAWS := []platform.Workload{platform.WorkloadGrafana, platform.ServiceConsole}
	services := map[string][]platform.Workload{}
	for _, link := range dashboards.StepLinks() {
		services[link.Title] = append(services[link.Title], link.Service)
		for _, used := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(link.Path, -1) {
			require.Contains(t, known, used[1], link.Path)
		}
		plain := regexp.MustCompile(`\$\{\w+\}`).ReplaceAllString(link.Path, "x1")
		_, err := url.Parse(plain)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(plain, "/"), plain)
		require.False(t, strings.ContainsAny(plain, "\"${} "), "%s is not escaped", plain)
	}
	for _, title := range []string{"trace", "logs", "profile", "dashboards", platform.TimelineLink, "Spark history"} {
		isOnAWS := func(w platform.Workload) bool { return slices.Contains(onAWS, w) }
		require.True(t, slices.ContainsFunc(services[title], isOnAWS), "%s on AWS", title)
		require.True(t, slices.ContainsFunc(services[title], func(w platform.Workload) bool { return !isOnAWS(w) }), "%s without Grafana", title)
	}
	require.Len(t, services, 6)
}

// A link that chooses values for a dashboard's variables names those that it has, and
// each of a timeline's, which shows one application.
func TestStepLinksNameTheVariablesOfTheirDashboard(t *testing.T) {
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	linked := 0
	for _, link := range dashboards.StepLinks() {
		target, err := url.Parse(link.Path)
		require.NoError(t, err)
		uid, isBoard := strings.CutPrefix(target.Path, "/d/")
		if !isBoard {
			continue
		}
		linked++
		at := slices.IndexFunc(suite, func(d dashboards.Dashboard) bool { return d.UID == uid })
		require.GreaterOrEqual(t, at, 0, link.Path)
		var board struct {
			Templating struct{ List []struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal(suite[at].JSON, &board))
		for name := range target.Query() {
			if variable, isVariable := strings.CutPrefix(name, "var-"); isVariable {
				require.True(t, slices.ContainsFunc(board.Templating.List, func(v struct{ Name string }) bool { return v.Name == variable }),
					"%s has no variable %s", uid, variable)
			}
		}
	}
	require.Equal(t, 3, linked)
}
