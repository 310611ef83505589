package stacks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

func TestThePreviewSaysWhenSchedulesStart(t *testing.T) {
	clusters := map[string]schema.Cluster{"lake": {}, "desk": {IdleTimeoutMinutes: 90}, "busy": {IdleTimeoutMinutes: 60},
		"own": {StartedBy: schema.StartedBySchedules}}
	cfg := schema.Config{Clusters: clusters, Schedules: map[string]schema.Schedule{
		"nightly": {Expression: "cron(30 2 * * ? *)", Timezone: "America/New_York", Enabled: true, Cluster: "lake"},
		"off":     {Expression: "cron(0 2 * * ? *)", Timezone: "UTC", Cluster: "lake"},
		"often":   {Expression: "rate(30 minutes)", Timezone: "UTC", Enabled: true, Cluster: "busy"},
		"own":     {Expression: "cron(0 6 1 * ? *)", Timezone: "UTC", Enabled: true, Cluster: "own"},
		"past":    {Expression: "cron(0 2 * * ? 2020)", Timezone: "UTC", Enabled: true, Cluster: "lake"},
		"office":  {Expression: "cron(0 9-17 ? * MON-FRI *)", Timezone: "Europe/Berlin", Enabled: true, Cluster: "desk"},
	}}
	require.Equal(t, `schedule nightly starts Sat 2027-03-13 02:30 EST, Mon 2027-03-15 02:30 EDT, Tue 2027-03-16 02:30 EDT
  warning: schedules.nightly.timezone: America/New_York has 2027-03-14 02:30, which the clock skips; nothing starts then
schedule off is not enabled
schedule office starts Mon 2027-03-15 09:00 CET, Mon 2027-03-15 10:00 CET, Mon 2027-03-15 11:00 CET
schedule often starts at once, if this update creates or changes it, Sat 2027-03-13 00:30 UTC, Sat 2027-03-13 01:00 UTC
schedule own starts Thu 2027-04-01 06:00 UTC, Sat 2027-05-01 06:00 UTC, Tue 2027-06-01 06:00 UTC
  each run starts its own cluster, as clusters.own says
schedule past does not start again
  warning: clusters.desk.idleTimeoutMinutes: 90 ends the cluster in the 64h0m0s that pass without a scheduled run, unless other `+
		`work keeps it; later runs are then lost: set it to 0`, schedulesText(cfg, time.Date(2027, 3, 13, 0, 0, 0, 0, time.UTC)))
	require.Empty(t, schedulesText(schema.Config{}, time.Now()))
}
