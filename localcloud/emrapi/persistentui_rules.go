package emrapi

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Rules of persistent UIs: Management Guide, "View persistent application user
// interfaces" (app-history-spark-UI).
const (
	maxActiveUIs = 200 // of an account
	// firstUIRelease is the first with a persistent Spark history server.
	firstUIRelease = "5.25.0"
	// clusterARNForm is what an error says that an ARN looks like.
	clusterARNForm = "arn:partition:elasticmapreduce:region:account:cluster/j-…"
)

// clusterARN matches a cluster's ARN of any partition: aws, aws-cn, aws-us-gov and
// those of closed regions.
var clusterARN = regexp.MustCompile(
	`^arn:aws(?:-[a-z]+)*:elasticmapreduce:[a-z]{2}(?:-[a-z]+)+-[0-9]+:([0-9]{12}):cluster/(j-[0-9A-Z]{1,40})$`)

// releaseNumbers matches the numbers of a release label.
var releaseNumbers = regexp.MustCompile(`^emr-([0-9]+)\.([0-9]+)\.[0-9]+$`)

// yarnApplication matches one id of an application in YARN.
var yarnApplication = regexp.MustCompile("^" + platform.YARNApplicationID + "$")

// targetCluster returns the cluster that an ARN names.
func (s *Server) targetCluster(arn string) (*record, error) {
	parts := clusterARN.FindStringSubmatch(arn)
	if parts == nil {
		return nil, invalidRequestError("TargetResourceArn '%s' is not valid: must be %s", arn, clusterARNForm)
	}
	found, err := s.store.snapshot(parts[2])
	if err != nil || s.store.Account.ID != "" && parts[1] != s.store.Account.ID {
		return nil, invalidRequestError("TargetResourceArn '%s' is not valid: the account has no such cluster.", arn)
	}
	return found, nil
}

// checkPersistentUI refuses a UI that the cluster cannot have.
func (s *Server) checkPersistentUI(found *record, input *emr.CreatePersistentAppUIInput) error {
	id, kind := aws.ToString(found.Cluster.Id), input.ProfilerType
	switch kind {
	case "", types.ProfilerTypeShs:
	case types.ProfilerTypeTezui, types.ProfilerTypeYts:
		return invalidRequestError("ProfilerType '%s' is not available for cluster '%s': the local cloud has SHS only.", kind, id)
	default:
		return invalidRequestError("ProfilerType '%s' is not valid: must be one of %q", kind, kind.Values())
	}
	if input.EMRContainersConfig != nil {
		return invalidRequestError("EMRContainersConfig is for job runs of EMR on EKS, but the target '%s' is a cluster.", id)
	}
	if reason := found.noPersistentUI(); reason != "" {
		return invalidRequestError("Persistent App UI is not supported for cluster '%s': %s", id, reason)
	}
	return nil
}

// noPersistentUI returns why a cluster has no persistent UI, or "".
func (r *record) noPersistentUI() string {
	for _, g := range r.Groups {
		if g.InstanceGroupType == types.InstanceGroupTypeMaster && aws.ToInt32(g.RequestedInstanceCount) > 1 {
			return "it has multiple primary nodes."
		}
	}
	if dir := r.eventLogDir(); strings.Contains(dir, "://") && !strings.HasPrefix(dir, "hdfs://") {
		return fmt.Sprintf("its Spark event logs (spark.eventLog.dir %s) are not in HDFS.", dir)
	}
	label := aws.ToString(r.Cluster.ReleaseLabel)
	if numbers := releaseNumbers.FindStringSubmatch(label); numbers != nil && olderRelease(numbers[1], numbers[2]) {
		return fmt.Sprintf("release %s is older than %s.", label, firstUIRelease)
	}
	return ""
}

// olderRelease reports whether a release is older than firstUIRelease.
func olderRelease(major, minor string) bool {
	pad := func(number string) string { return fmt.Sprintf("%6s", number) }
	first := strings.Split(firstUIRelease, ".")
	return pad(major)+pad(minor) < pad(first[0])+pad(first[1])
}

// eventLogDir returns what the cluster's configuration says about where Spark writes
// its event logs; "" = EMR's default, in HDFS.
func (r *record) eventLogDir() string {
	dir := ""
	for _, c := range r.Cluster.Configurations {
		if set := c.Properties["spark.eventLog.dir"]; set != "" && aws.ToString(c.Classification) == "spark-defaults" {
			dir = set
		}
	}
	return dir
}

// checkUIQuota refuses one more UI if the account has as many active ones as it may.
// The caller holds the store's lock. EMR does not say when a UI is no longer active;
// here it is when the history of its cluster has expired.
func (s *Server) checkUIQuota(all map[string]persistentUI) error {
	active := 0
	for _, ui := range all {
		cluster, known := s.store.records[ui.ClusterID]
		if !known {
			continue
		}
		if ended := cluster.Cluster.Status.Timeline.EndDateTime; ended == nil || !s.uis.Expired(*ended) {
			active++
		}
	}
	if active >= maxActiveUIs || s.uis.QuotaFull() {
		return invalidRequestError("The account has reached its limit of %d active persistent application user interfaces.", maxActiveUIs)
	}
	return nil
}

// checkOnClusterUI refuses a live page that the cluster does not have.
func checkOnClusterUI(found *record, page Page) error {
	switch page.Live {
	case types.OnClusterAppUITypeSparkHistoryServer, types.OnClusterAppUITypeResourceManager:
	case types.OnClusterAppUITypeApplicationMaster:
		if page.ApplicationID == "" {
			return invalidRequestError("ApplicationId is required for OnClusterAppUIType '%s'.", page.Live)
		}
	case types.OnClusterAppUITypeJobHistoryServer, types.OnClusterAppUITypeTezUI, types.OnClusterAppUITypeYarnTimelineService:
		return invalidRequestError("OnClusterAppUIType '%s' is not available for cluster '%s': the local cloud does not run it.",
			page.Live, page.ClusterID)
	default:
		return invalidRequestError("OnClusterAppUIType '%s' is not valid: must be one of %q", page.Live, page.Live.Values())
	}
	if page.ApplicationID != "" && !yarnApplication.MatchString(page.ApplicationID) {
		return invalidRequestError("ApplicationId '%s' is not valid.", page.ApplicationID)
	}
	if !clusterReady(found.state()) {
		return invalidRequestError("Cluster '%s' is in state %s: on-cluster application user interfaces need RUNNING or WAITING.",
			page.ClusterID, found.state())
	}
	return nil
}
