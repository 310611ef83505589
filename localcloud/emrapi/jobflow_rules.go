package emrapi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Limits of a job flow: API reference of RunJobFlow and AutoTerminationPolicy; Management
// Guide, "Create bootstrap actions" and "Configure uniform instance groups".
const (
	maxActions         = 16
	maxTaskGroups      = 48
	maxStepConcurrency = 256
	minIdleTimeout     = 60 // seconds
	maxIdleTimeout     = 604800
)

var (
	releaseLabel = regexp.MustCompile(`^emr-\d+\.\d+\.\d+$`)
	imageID      = regexp.MustCompile(`^ami-[0-9a-z]+$`)
)

// violations collects what is wrong with a request, each as "field: value: rule".
type violations []error

func (v *violations) require(holds bool, format string, args ...any) {
	if !holds {
		*v = append(*v, fmt.Errorf(format, args...))
	}
}

// refuse returns a ValidationException that lists every violation, nil if there is none.
func (v *violations) refuse() error {
	if len(*v) == 0 {
		return nil
	}
	return validationError("%v", errors.Join(*v...))
}

// checkJobFlow completes the legacy form of a request (MasterInstanceType,
// SlaveInstanceType, InstanceCount), then reports every violation of EMR's rules.
func checkJobFlow(r *emr.RunJobFlowInput) error {
	var v violations
	name := aws.ToString(r.Name)
	v.require(name != "" && utf8.RuneCountInString(name) <= 256 && !strings.ContainsAny(name, "<>$|`\r\n\t"),
		"Name: %q: must have 1 to 256 characters, none of < > $ | ` and line breaks", name)
	v.require(releaseLabel.MatchString(aws.ToString(r.ReleaseLabel)),
		"ReleaseLabel: %q: The supplied release label is invalid: %s.", aws.ToString(r.ReleaseLabel), aws.ToString(r.ReleaseLabel))
	v.require(aws.ToString(r.ServiceRole) != "", "ServiceRole: ServiceRole is required for creating cluster.")
	v.require(aws.ToString(r.JobFlowRole) != "", "JobFlowRole: InstanceProfile is required for creating cluster.")
	v.require(r.CustomAmiId == nil || imageID.MatchString(*r.CustomAmiId),
		"CustomAmiId: %q: must match %s", aws.ToString(r.CustomAmiId), imageID)
	level := aws.ToInt32(r.StepConcurrencyLevel)
	v.require(r.StepConcurrencyLevel == nil || level >= 1 && level <= maxStepConcurrency,
		"StepConcurrencyLevel: %d: must be 1 to %d", level, maxStepConcurrency)
	v.require(r.EbsRootVolumeSize == nil || *r.EbsRootVolumeSize >= 15 && *r.EbsRootVolumeSize <= 100,
		"EbsRootVolumeSize: %d: must be 15 to 100 GiB", aws.ToInt32(r.EbsRootVolumeSize))
	requireOneOf(&v, "ScaleDownBehavior", r.ScaleDownBehavior, r.ScaleDownBehavior.Values())
	v.checkIdleTimeout(r.AutoTerminationPolicy)
	v.checkTags(r.Tags)
	v.checkActions(r.BootstrapActions)
	v.checkConfigurations("Configurations", r.Configurations)
	for i, g := range r.PlacementGroupConfigs {
		v.require(g.InstanceRole == types.InstanceRoleTypeMaster, "PlacementGroupConfigs[%d].InstanceRole: %q: must be MASTER", i, g.InstanceRole)
	}
	if r.KerberosAttributes != nil {
		v.require(aws.ToString(r.KerberosAttributes.Realm) != "" && aws.ToString(r.KerberosAttributes.KdcAdminPassword) != "",
			"KerberosAttributes: needs Realm and KdcAdminPassword")
		v.require(aws.ToString(r.SecurityConfiguration) != "", "KerberosAttributes: needs a SecurityConfiguration with Kerberos")
	}
	v.require(len(r.Steps) <= maxSteps, "Steps: %d steps: at most %d", len(r.Steps), maxSteps)
	for i, step := range r.Steps {
		v.checkStep(fmt.Sprintf("Steps[%d]", i), step, level)
	}
	if r.Instances == nil {
		v.require(false, "Instances: must describe the cluster's instances")
		return v.refuse()
	}
	completeLegacyGroups(r.Instances)
	v.checkInstances(r.Instances)
	if r.ManagedScalingPolicy != nil {
		v.checkManagedScaling(r.ManagedScalingPolicy, len(r.Instances.InstanceFleets) > 0, slices.ContainsFunc(r.Instances.InstanceGroups,
			func(g types.InstanceGroupConfig) bool { return isOnDemandCore(g.InstanceRole, g.Market, g.BidPrice) }))
	}
	return v.refuse()
}

// completeLegacyGroups replaces the request's three legacy fields by the groups that
// they stand for (API reference, JobFlowInstancesConfig).
func completeLegacyGroups(i *types.JobFlowInstancesConfig) {
	count := aws.ToInt32(i.InstanceCount)
	if len(i.InstanceGroups)+len(i.InstanceFleets) > 0 || i.MasterInstanceType == nil || count < 1 {
		return
	}
	i.InstanceGroups = []types.InstanceGroupConfig{{
		InstanceRole: types.InstanceRoleTypeMaster, InstanceType: i.MasterInstanceType, InstanceCount: aws.Int32(1),
	}}
	if count > 1 {
		i.InstanceGroups = append(i.InstanceGroups, types.InstanceGroupConfig{
			InstanceRole: types.InstanceRoleTypeCore, InstanceType: i.SlaveInstanceType, InstanceCount: aws.Int32(count - 1),
		})
	}
	i.MasterInstanceType, i.SlaveInstanceType, i.InstanceCount = nil, nil, nil
}

// requireOneOf requires one of an enumeration's values, or none.
func requireOneOf[E ~string](v *violations, field string, value E, values []E) {
	v.require(value == "" || slices.Contains(values, value), "%s: %q: must be one of %q", field, value, values)
}

func (v *violations) checkIdleTimeout(p *types.AutoTerminationPolicy) {
	if p == nil {
		return
	}
	timeout := aws.ToInt64(p.IdleTimeout)
	v.require(timeout >= minIdleTimeout && timeout <= maxIdleTimeout,
		"AutoTerminationPolicy.IdleTimeout: %d: must be %d to %d seconds", timeout, minIdleTimeout, maxIdleTimeout)
}

func (v *violations) checkTags(tags []types.Tag) {
	for i, t := range tags {
		key, value := aws.ToString(t.Key), aws.ToString(t.Value)
		v.require(key != "" && utf8.RuneCountInString(key) <= 128 && !strings.HasPrefix(key, "aws:"),
			"Tags[%d].Key: %q: must have 1 to 128 characters and not begin with aws:", i, key)
		length := utf8.RuneCountInString(value)
		v.require(length <= 256, "Tags[%d].Value: %d characters: at most 256", i, length)
	}
}

func (v *violations) checkActions(actions []types.BootstrapActionConfig) {
	v.require(len(actions) <= maxActions, "BootstrapActions: %d actions: at most %d", len(actions), maxActions)
	for i, a := range actions {
		v.require(aws.ToString(a.Name) != "" && a.ScriptBootstrapAction != nil && aws.ToString(a.ScriptBootstrapAction.Path) != "",
			"BootstrapActions[%d]: needs Name and ScriptBootstrapAction.Path", i)
	}
}

// checkConfigurations checks a list of classifications and what is nested in it.
func (v *violations) checkConfigurations(field string, list []types.Configuration) {
	seen := map[string]bool{}
	for i, c := range list {
		at, name := fmt.Sprintf("%s[%d]", field, i), aws.ToString(c.Classification)
		v.require(name != "", "%s.Classification: must not be empty", at)
		v.require(!seen[name], "%s.Classification: %q: a classification may be specified only once", at, name)
		seen[name] = true
		v.checkConfigurations(at+".Configurations", c.Configurations)
	}
}
