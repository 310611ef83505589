package emr_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// serveUIs gives the cloud persistent UIs, with a front of their own.
func (c *cloud) serveUIs() {
	c.t.Helper()
	java, err := doctor.JDK()
	require.NoError(c.t, err)
	c.UIs = &persistentui.Service{
		Dir: c.t.TempDir(), Applications: c.Applications, JavaHome: java, Clock: c.clock, Log: c.Log, Primary: c.Primary,
		Limits: persistentui.Limits{AttachTime: 100 * time.Millisecond},
	}
	c.t.Cleanup(c.UIs.Close)
	c.front = httptest.NewTLSServer(c.UIs)
	c.t.Cleanup(c.front.Close)
	c.UIs.Address = c.front.Listener.Addr().String()
}

// openUI opens a presigned URL and returns a client with its session, and the page.
func (c *cloud) openUI(t *testing.T, url *string) (*http.Client, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Transport: c.front.Client().Transport, Jar: jar}
	return client, page(t, client, aws.ToString(url))
}

func page(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	res, err := client.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", res.Request.URL, body)
	return string(body)
}

// sparkApplication is one of Spark's REST API.
type sparkApplication struct {
	ID       string
	Attempts []struct{ Completed bool }
}

// listed returns the applications that a UI lists, sorted by id.
func (c *cloud) listed(t *testing.T, client *http.Client) []sparkApplication {
	t.Helper()
	var list []sparkApplication
	require.NoError(t, json.Unmarshal([]byte(page(t, client, c.front.URL+"/shs/api/v1/applications")), &list))
	slices.SortFunc(list, func(a, b sparkApplication) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// persistentUI creates a persistent UI and opens it.
func (c *cloud) persistentUI(t *testing.T, id string) *http.Client {
	t.Helper()
	found, err := c.Store.Cluster(id)
	require.NoError(t, err)
	created, err := c.api.CreatePersistentAppUI(t.Context(), &awsemr.CreatePersistentAppUIInput{TargetResourceArn: found.ClusterArn})
	require.NoError(t, err)
	var out *awsemr.GetPersistentAppUIPresignedURLOutput
	testenv.Eventually(t, func() bool {
		out, err = c.api.GetPersistentAppUIPresignedURL(t.Context(), &awsemr.GetPersistentAppUIPresignedURLInput{
			PersistentAppUIId: created.PersistentAppUIId,
		})
		require.NoError(t, err)
		return *out.PresignedURLReady
	}, testTimeout, 20*time.Millisecond)
	client, _ := c.openUI(t, out.PresignedURL)
	return client
}

// yarnApplications returns the ids of all applications that the cluster has run.
func (c *cloud) yarnApplications(t *testing.T) []string {
	t.Helper()
	// Its REST API breaks off when it lists applications: the one-jar build lacks a class.
	body := page(t, http.DefaultClient, "http://"+c.exposed[emr.ResourceManager]+"/cluster/apps")
	ids := regexp.MustCompile(platform.YARNApplicationID).FindAllString(body, -1)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// testHistory runs an application with a rolled log as a step. While it runs, EMR knows
// that it is the step's, its live page is open, and the persistent UI, which is late,
// lists it as incomplete.
func (c *cloud) testHistory(t *testing.T, id string) {
	master, ok := c.Region.Machine(*c.instances(id)["m6g.xlarge"].Ec2InstanceId)
	require.True(t, ok)
	require.NoError(t, os.WriteFile(filepath.Join(master.Root, "tmp/step.py"), []byte(sessionScript), 0o644))
	// An application that a failure left behind would take the later parts' containers.
	end := machine.Exec{Argv: []string{"touch", "/tmp/end"}}
	defer func() { require.NoError(t, master.Must(context.Background(), end)) }()
	step := c.addStep(t, id, "spark-submit", "--conf", "spark.dynamicAllocation.enabled=false", "--num-executors", "1",
		"--conf", "spark.eventLog.rolling.enabled=true", "/tmp/step.py")
	const begun = "for i in $(seq 6000); do test -e /tmp/begun && exit; sleep 0.1; done; exit 1" // ten minutes
	require.NoError(t, master.Must(t.Context(), machine.Exec{Argv: []string{"bash", "-c", begun}}))
	core, ok := c.Region.Machine(*c.instances(id)["r6g.2xlarge"].Ec2InstanceId)
	require.True(t, ok)
	for class, m := range map[string]*region.Machine{
		"HistoryServer": master, "SparkSubmit": master, "ExecutorLauncher": core, "YarnCoarseGrainedExecutorBackend": core,
	} {
		mapped := "grep -q node-spark-.*jsa /proc/$(pgrep -f '^[^ ]*/bin/java .*" + class + "')/maps"
		require.NoError(t, m.Must(t.Context(), machine.Exec{Argv: []string{"bash", "-c", mapped}}), "%s loads classes from the archive", class)
	}
	c.CollectEventLogs(t.Context())
	out, err := c.api.DescribeStep(t.Context(), &awsemr.DescribeStepInput{ClusterId: &id, StepId: &step})
	require.NoError(t, err)
	require.NotNil(t, out.Step.AdditionalInfo)
	require.Equal(t, c.yarnApplications(t), out.Step.AdditionalInfo.ResourceManagerApplicationIds)
	require.Equal(t, *c.onlyCluster().MasterPublicDnsName+":8032", *out.Step.AdditionalInfo.ResourceManager)
	application := out.Step.AdditionalInfo.ResourceManagerApplicationIds[0]

	c.testLivePages(t, id, application)
	ui := c.persistentUI(t, id)
	list := c.listed(t, ui)
	require.Len(t, list, 1)
	require.Equal(t, application, list[0].ID)
	require.False(t, list[0].Attempts[0].Completed)

	require.NoError(t, master.Must(t.Context(), end))
	c.awaitStep(t, id, step, types.StepStateCompleted)
	testenv.Eventually(t, func() bool {
		c.CollectEventLogs(t.Context())
		return c.listed(t, ui)[0].Attempts[0].Completed
	}, testTimeout, 500*time.Millisecond)
}

// testLivePages opens the pages of a running application by EMR's API. The history
// server of the cluster lists an application some seconds after its log has begun.
func (c *cloud) testLivePages(t *testing.T, id, application string) {
	all, err := c.api.GetOnClusterAppUIPresignedURL(t.Context(), &awsemr.GetOnClusterAppUIPresignedURLInput{
		ClusterId: &id, OnClusterAppUIType: types.OnClusterAppUITypeSparkHistoryServer,
	})
	require.NoError(t, err)
	onCluster, _ := c.openUI(t, all.PresignedURL)
	testenv.Eventually(t, func() bool { return len(c.listed(t, onCluster)) > 0 }, testTimeout, 500*time.Millisecond)
	for kind, want := range map[types.OnClusterAppUIType]string{
		types.OnClusterAppUITypeSparkHistoryServer: "Spark Jobs",
		types.OnClusterAppUITypeApplicationMaster:  "Spark Jobs",
		types.OnClusterAppUITypeResourceManager:    application,
	} {
		out, err := c.api.GetOnClusterAppUIPresignedURL(t.Context(), &awsemr.GetOnClusterAppUIPresignedURLInput{
			ClusterId: &id, OnClusterAppUIType: kind, ApplicationId: &application,
		})
		require.NoError(t, err)
		require.True(t, *out.PresignedURLReady)
		client, body := c.openUI(t, out.PresignedURL)
		require.Contains(t, body, want, kind)
		if kind == types.OnClusterAppUITypeApplicationMaster {
			rest := page(t, client, c.front.URL+"/proxy/"+application+"/api/v1/applications/"+application+"/executors")
			require.Contains(t, rest, `"isActive" : true`)
		}
	}
}

// requireHistory fails unless the persistent UI of a cluster that is gone lists what
// the cluster has run.
func (c *cloud) requireHistory(t *testing.T, id string, applications []string) {
	t.Helper()
	ui := c.persistentUI(t, id)
	list := c.listed(t, ui)
	ids := make([]string, 0, len(list))
	for _, a := range list {
		ids = append(ids, a.ID)
		require.True(t, a.Attempts[0].Completed, a.ID)
		require.Contains(t, page(t, ui, c.front.URL+"/shs/api/v1/applications/"+a.ID+"/jobs"), `"status" : "SUCCEEDED"`)
	}
	require.Equal(t, applications, ids)
	_, err := c.api.GetOnClusterAppUIPresignedURL(t.Context(), &awsemr.GetOnClusterAppUIPresignedURLInput{ClusterId: &id})
	require.ErrorContains(t, err, "is in state TERMINATED")
}
