package stacks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

func TestThePreviewSaysWhenSchedulesStart(t *testing.T) {
	cfg := schema.Config{Clusters: map[string]schema.Cluster{"lake": {}, "desk": {IdleTimeoutMinutes: 60}}, Schedules: map[string]schema.Schedule{
		"nightly": {Expression: "cron(30 2 * * ? *)", Timezone: "America/New_York", Enabled: true, Cluster: "lake"},
		"off":     {Expression: "cron(0 2 * * ? *)", Timezone: "UTC", Cluster: "lake"},
		"often":   {Expression: "rate(30 minutes)", Timezone: "UTC", Enabled: true, Cluster: "desk"},
		"past":    {Expression: "cron(0 2 * * ? 2020)", Timezone: "UTC", Enabled: true, Cluster: "lake"},
		"weekly":  {Expression: "cron(0 6 ? * MON *)", Timezone: "Europe/Berlin", Enabled: true, Cluster: "desk"},
	}}
	require.Equal(t, `schedule nightly starts Sat 2027-03-13 02:30 EST, Mon 2027-03-15 02:30 EDT, Tue 2027-03-16 02:30 EDT
  warning: schedules.nightly.timezone: America/New_York has 2027-03-14 02:30, which the clock skips; nothing starts then
schedule off starts not enabled
schedule often starts Sat 2027-03-13 00:30 UTC, Sat 2027-03-13 01:00 UTC, Sat 2027-03-13 01:30 UTC
schedule past starts never again
schedule weekly starts Mon 2027-03-15 06:00 CET, Mon 2027-03-22 06:00 CET, Mon 2027-03-29 06:00 CEST
  warning: schedules.weekly.cluster: desk ends after 60 minutes without work, before the next run, which is then lost: `+
		`set clusters.desk.idleTimeoutMinutes to 0`, schedulesText(cfg, time.Date(2027, 3, 13, 0, 0, 0, 0, time.UTC)))
	require.Empty(t, schedulesText(schema.Config{}, time.Now()))
}
