package source_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// The line as Hadoop 3.3's RMAppManager writes it, by log4j's pattern of EMR.
const summaryLine = `2026-11-29 05:34:26,123 INFO org.apache.hadoop.yarn.server.resourcemanager.RMAppManager$ApplicationSummary ` +
	`(RM Event dispatcher): appId=application_1795930432206_0001,name=load\, then a\=b \\ end,user=hadoop,queue=default,state=FINISHED,` +
	`trackingUrl=http://ip-10-0-0-100.ec2.internal:20888/proxy/application_1795930432206_0001/,appMasterHost=ip-10-0-0-101.ec2.internal,` +
	`submitTime=1795930450000,startTime=1795930450100,launchTime=1795930451000,finishTime=1795930510100,finalStatus=SUCCEEDED,` +
	`memorySeconds=204800,vcoreSeconds=120,preemptedMemorySeconds=0,preemptedVcoreSeconds=0,preemptedAMContainers=0,` +
	`preemptedNonAMContainers=0,preemptedResources=<memory:0\, vCores:0>,applicationType=SPARK,resourceSeconds=204800 MB-seconds\, ` +
	`120 vcore-seconds,preemptedResourceSeconds=0 MB-seconds\, 0 vcore-seconds,applicationTags=,applicationNodeLabel=`

func TestParseUsage(t *testing.T) {
	got, ok := source.ParseUsage(summaryLine)
	require.True(t, ok)
	require.Equal(t, source.Usage{
		ApplicationID: "application_1795930432206_0001", Name: `load, then a=b \ end`, MasterHost: "ip-10-0-0-101",
		Started: 1795930450100, Finished: 1795930510100, VCoreSeconds: 120, MiBSeconds: 204800,
	}, got)

	const head = "INFO RMAppManager$ApplicationSummary: appId="
	for name, line := range map[string]string{
		"another class":      "INFO RMAuditLogger: USER=hadoop OPERATION=x APPID=application_1795930432206_0001",
		"no figures":         "INFO RMAppManager$ApplicationSummary: appId=application_1795930432206_0001,name=x,finishTime=1",
		"no id":              head + "x,startTime=1,finishTime=1,memorySeconds=1,vcoreSeconds=1",
		"a negative figure":  head + "application_1_0001,startTime=1,finishTime=1,memorySeconds=1,vcoreSeconds=-1",
		"a name that is one": "INFO Client: ApplicationSummary: appId=,name=application_1_0001",
	} {
		_, ok := source.ParseUsage(line)
		require.False(t, ok, name)
	}

	got, ok = source.ParseUsage(`INFO RMAppManager$ApplicationSummary: appId=application_1_0001,name=x\,vcoreSeconds\=9,appMasterHost=N/A,` +
		`startTime=1,finishTime=2,memorySeconds=3,vcoreSeconds=4,vcoreSeconds=5`)
	require.True(t, ok)
	require.EqualValues(t, 4, got.VCoreSeconds, "neither what a name has, nor what follows")
	require.Empty(t, got.MasterHost)
}
