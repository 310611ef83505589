package config_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// bad is one broken configuration over an else valid one; paths are the
// faults it must yield, no more and no fewer.
type bad struct {
	name   string
	values map[string]string
	paths  []string
}

func one(key, value string, paths ...string) bad {
	if len(paths) == 0 {
		paths = []string{key}
	}
	return bad{name: key + "=" + value, values: map[string]string{key: value}, paths: paths}
}

func badConfigs() []bad {
	return []bad{
		one("region", ""),
		one("region", "us_east_1"),
		one("region", "US-EAST-1"),
		one("ephemeral", "yes"),
		one("ephemeral", "1"),
		one("tags", `[]`),
		one("tags", `null`),
		one("tags", `{"owner":5}`, "tags.owner"),
		one("tags", `{"aws:owner":"x"}`, "tags.aws:owner"),
		one("tags", `{"":"x"}`, "tags."),
		one("tags", `{"owner":"<x>"}`, "tags.owner"),
		one("tags", `{"owner":"`+strings.Repeat("x", 257)+`"}`, "tags.owner"),
		one("tags", `{"Name":"x"}`, "tags.Name"),
		one("tags", manyTags()),
		one("operatorCidrs", `"203.0.113.0/24"`),
		one("operatorCidrs", `["0.0.0.0/0"]`, "operatorCidrs[0]"),
		one("operatorCidrs", `["128.0.0.0/1"]`, "operatorCidrs[0]"),
		one("operatorCidrs", `["::/0"]`, "operatorCidrs[0]"),
		one("operatorCidrs", `["203.0.113.7/24"]`, "operatorCidrs[0]"),
		one("operatorCidrs", `["203.0.113.7"]`, "operatorCidrs[0]"),
		one("operatorCidrs", `["203.0.113.0/24","203.0.113.0/24"]`, "operatorCidrs[1]"),
		one("operatorCidrs", `[7]`, "operatorCidrs[0]"),
		one("operatorCidrs", `["203.0.113.0/24"] []`),
		one("network", `{"CIDR":"10.0.0.0/16"}`, "network.CIDR"),
		one("network", `{"cidr":"8.8.0.0/16"}`, "network.cidr"),
		one("network", `{"cidr":"10.0.0.0/8"}`, "network.cidr"),
		one("network", `{"cidr":"10.0.0.1/16"}`, "network.cidr"),
		one("network", `{"nat":"true"}`, "network.nat"),
		one("network", `{"availabilityZones":["us-east-1a"]}`, "network.availabilityZones"),
		one("network", `{"availabilityZones":["us-east-1a","us-east-1a"]}`, "network.availabilityZones[1]"),
		one("network", `{"availabilityZones":["us-east-1a","eu-west-1b"]}`, "network.availabilityZones[1]"),
		one("network", `{"vpcId":"10.0.0.0/16","subnetIds":["subnet-0123abcd"]}`, "network.vpcId"),
		one("network", `{"vpcId":"vpc-0123abcd"}`, "network.subnetIds"),
		one("network", `{"subnetIds":["subnet-0123abcd"]}`, "network.subnetIds"),
		one("network", `{"vpcId":"vpc-0123abcd","subnetIds":["sn-1"]}`, "network.subnetIds[0]"),
		one("network", `{"vpcId":"vpc-0123abcd","subnetIds":["subnet-0123abcd"],"availabilityZones":["us-east-1a","us-east-1b"]}`, "network.availabilityZones"),
		one("network", `{"interfaceEndpoints":["s3"]}`, "network.interfaceEndpoints[0]"),
		one("network", `{"interfaceEndpoints":["com.amazonaws.us-east-1.ssm"]}`, "network.interfaceEndpoints[0]"),
		one("controlNode", `{"instanceType":"big"}`, "controlNode.instanceType"),
		one("controlNode", `{"arch":"x86_64"}`, "controlNode.arch"),
		one("controlNode", `{"instanceType":"m6g.xlarge"}`, "controlNode.arch"),
		one("controlNode", `{"arch":"arm64"}`, "controlNode.arch"),
		one("controlNode", `{"privateIp":"10.1.0.4"}`, "controlNode.privateIp"),
		one("controlNode", `{"privateIp":"fd00::1"}`, "controlNode.privateIp"),
		one("controlNode", `{"dataVolumeGiB":10}`, "controlNode.dataVolumeGiB"),
		one("controlNode", `{"dataVolumeGiB":100.5}`, "controlNode.dataVolumeGiB"),
		one("emr", `{"releaseLabel":"7.10.0"}`, "emr.releaseLabel"),
		one("emr", `{"releaseLabel":"emr-5.36.0"}`, "emr.releaseLabel"),
		one("emr", `{"releaseLabel":"emr-6.14.0"}`, "emr.releaseLabel"),
		one("emr", `{"applications":["Hadoop"]}`, "emr.applications"),
		one("emr", `{"applications":["Spark","spark"]}`, "emr.applications[1]"),
		one("emr", `{"applications":["Spark","Spark"]}`, "emr.applications[1]"),
		one("emr", `{"master":{"count":2}}`, "emr.master.count"),
		one("emr", `{"master":{"bidPrice":"0.1"}}`, "emr.master.bidPrice"),
		one("emr", `{"core":{"count":0}}`, "emr.core.count"),
		one("emr", `{"core":{"count":"2"}}`, "emr.core.count"),
		one("emr", `{"core":{"instanceTypes":["m5.xlarge"]}}`, "emr.core.instanceTypes"),
		one("emr", `{"core":{"bidPrice":"cheap"}}`, "emr.core.bidPrice"),
		one("emr", `{"core":{"bidPrice":"0.00"}}`, "emr.core.bidPrice"),
		one("emr", `{"core":{"ebs":{"type":"gp3"}}}`, "emr.core.ebs"),
		one("emr", `{"core":{"ebs":["gp3"]}}`, "emr.core.ebs[0]"),
		one("emr", `{"core":{"ebs":[{"type":"io2","sizeGiB":100}]}}`, "emr.core.ebs[0].type"),
		one("emr", `{"core":{"ebs":[{"type":"gp3"}]}}`, "emr.core.ebs[0].sizeGiB"),
		one("emr", `{"core":{"ebs":[{"type":"st1","sizeGiB":100}]}}`, "emr.core.ebs[0].sizeGiB"),
		one("emr", `{"core":{"ebs":[{"type":"gp2","sizeGiB":100,"iops":3000}]}}`, "emr.core.ebs[0].iops"),
		one("emr", `{"core":{"ebs":[{"type":"gp3","sizeGiB":100,"iops":100}]}}`, "emr.core.ebs[0].iops"),
		one("emr", `{"core":{"ebs":[{"type":"io1","sizeGiB":100,"throughput":125}]}}`, "emr.core.ebs[0].throughput"),
		one("emr", `{"core":{"ebs":[{"sizeGiB":100,"perInstance":0}]}}`, "emr.core.ebs[0].perInstance"),
		one("emr", `{"task":{"count":0}}`, "emr.task.count"),
		one("emr", `{"task":{"instanceType":"m5"}}`, "emr.task.instanceType"),
		one("emr", `{"idleTimeoutMinutes":-1}`, "emr.idleTimeoutMinutes"),
		one("emr", `{"idleTimeoutMinutes":10081}`, "emr.idleTimeoutMinutes"),
		{"protected and ephemeral", map[string]string{"ephemeral": "true", "emr": `{"terminationProtection":true}`}, []string{"emr.terminationProtection"}},
		one("emr", `{"sparkDefaults":{"executor.memory":"4g"}}`, "emr.sparkDefaults.executor.memory"),
		one("emr", `{"sparkDefaults":{"spark.executor.cores":4}}`, "emr.sparkDefaults.spark.executor.cores"),
		one("emr", `{"sparkDefaults":{"spark.driver.defaultJavaOptions":"-Xss4m"}}`, "emr.sparkDefaults.spark.driver.defaultJavaOptions"),
		one("emr", `{"sparkDefaults":{"spark.hadoop.fs.s3a.secret.key":"hunter2"}}`, "emr.sparkDefaults.spark.hadoop.fs.s3a.secret.key"),
		one("retention", `{"tempoDays":0}`, "retention.tempoDays"),
		one("retention", `{"pyroscopeDays":4000}`, "retention.pyroscopeDays"),
		one("retention", `{"victoriaMetricsDays":0}`, "retention.victoriaMetricsDays"),
		one("retention", `{"victoriaLogsDays":"14"}`, "retention.victoriaLogsDays"),
		one("retention", `{"artifactDays":-1}`, "retention.artifactDays"),
		one("retention", `{"days":14}`, "retention.days"),
		one("awsEndpoints", `{"s3":"10.0.0.2:7070"}`, "awsEndpoints.s3"),
		one("awsEndpoints", `{"s3":"http://10.0.0.2:7070/"}`, "awsEndpoints.s3"),
		one("awsEndpoints", `{"s3":"http://key:hunter2@10.0.0.2"}`, "awsEndpoints.s3"),
		one("awsEndpoints", `{"sqs":"http://10.0.0.2"}`, "awsEndpoints.sqs"),
		one("grafana", `{"url":"grafana.example.org"}`, "grafana.url"),
		{"a typo at the top", map[string]string{"opratorCidrs": `[]`}, []string{"opratorCidrs"}},
	}
}

func manyTags() string {
	tags := map[string]string{}
	for i := range 9 {
		tags[strings.Repeat("x", i+1)] = ""
	}
	b, err := json.Marshal(tags)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestBadConfigs(t *testing.T) {
	cases := badConfigs()
	require.GreaterOrEqual(t, len(cases), 40)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			values := map[string]string{"region": "us-east-1"}
			for k, v := range c.values {
				values[k] = v
			}
			_, err := config.Parse(values)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hunter2")
			var paths []string
			for _, f := range faults(t, err) {
				paths = append(paths, f.Path)
				require.NotEmpty(t, f.Value)
				require.NotEmpty(t, f.Rule, f.Path)
				require.NotEmpty(t, f.Remedy, f.Path)
			}
			require.Equal(t, c.paths, paths, err.Error())
		})
	}
}

// faults unfolds a joined error; anything in it that is not a Fault fails.
func faults(t *testing.T, err error) []config.Fault {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // the joined error itself
	require.True(t, ok)
	var out []config.Fault
	for _, e := range joined.Unwrap() {
		var f config.Fault
		require.True(t, errors.As(e, &f), "%T: %v", e, e)
		out = append(out, f)
	}
	return out
}
