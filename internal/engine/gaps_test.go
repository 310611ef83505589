package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

func TestGapsOfSchedules(t *testing.T) {
	now := time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)
	require.Equal(t, map[string]time.Duration{"hourly": time.Hour, "rate": 30 * time.Minute}, gapsOf(map[string]schema.Schedule{
		"hourly": {Expression: "cron(0 * * * ? *)", Timezone: "UTC", Enabled: true},
		"rate":   {Expression: "rate(30 minutes)", Timezone: "UTC", Enabled: true},
		"once":   {Expression: "cron(0 0 1 1 ? *)", Timezone: "UTC", Enabled: true},
		"off":    {Expression: "cron(0 * * * ? *)", Timezone: "UTC"},
	}, now))
}
