// Package pulumiemr adds the platform to a cluster that another team's Pulumi program
// declares: its security group, its bootstrap action, its configurations and its tags. It
// declares no resource. The policy observe.Settings.NodePolicyARN remains to be
// attached to the role of the cluster's nodes, which such a program owns.
package pulumiemr

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Into changes a cluster's arguments so that the platform observes it. What the
// arguments say already stays: see observe.Merge. On an error they are unchanged. A
// second call changes nothing.
func Into(args *emr.ClusterArgs, s observe.Settings) error {
	var errs []error
	if args.Configurations != nil {
		errs = append(errs, errors.New("args.Configurations: set: must be empty, since the provider reads that file or URL itself; "+
			"use ConfigurationsJson"))
	}
	if args.Ec2Attributes == nil {
		errs = append(errs, errors.New("args.Ec2Attributes: missing: must be set, with the instance profile of the nodes; set it before Into"))
	}
	configurations, err := mergeConfigurations(args.ConfigurationsJson, s.Configurations)
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("observe a cluster: %w", err)
	}
	args.ConfigurationsJson = configurations
	args.Ec2Attributes = addGroup(args.Ec2Attributes, s.SecurityGroupID)
	args.BootstrapActions = putFirst(args.BootstrapActions, s.Bootstrap)
	args.Tags = addTags(args.Tags, s.Tags)
	return nil
}

// mergeConfigurations reports at once what is wrong with a constant, and else when the
// value is known.
func mergeConfigurations(own pulumi.StringPtrInput, wanted []observe.Classification) (pulumi.StringPtrInput, error) {
	merge := func(own string) (string, error) {
		var list []observe.Classification
		if strings.TrimSpace(own) != "" {
			var err error
			if list, err = observe.Parse(own); err != nil {
				return "", fmt.Errorf("args.ConfigurationsJson: %w", err)
			}
		}
		return observe.Render(observe.Merge(list, wanted))
	}
	constant, isConstant := own.(pulumi.String)
	if own == nil || isConstant {
		merged, err := merge(string(constant))
		return pulumi.String(merged), err
	}
	merged := own.ToStringPtrOutput().ApplyT(func(own *string) (*string, error) {
		merged, err := merge(text(own))
		return &merged, err
	})
	return typed[pulumi.StringPtrOutput](merged), nil
}

// addGroup adds a security group to those of all nodes. Of arguments it changes only
// the two lists, so that a preview knows the others.
func addGroup(attributes emr.ClusterEc2AttributesPtrInput, group string) emr.ClusterEc2AttributesPtrInput {
	if a, known := attributes.(emr.ClusterEc2AttributesArgs); known {
		a.AdditionalMasterSecurityGroups = appended(a.AdditionalMasterSecurityGroups, group)
		a.AdditionalSlaveSecurityGroups = appended(a.AdditionalSlaveSecurityGroups, group)
		return a
	}
	added := attributes.ToClusterEc2AttributesPtrOutput().ApplyT(func(a *emr.ClusterEc2Attributes) *emr.ClusterEc2Attributes {
		var changed emr.ClusterEc2Attributes
		if a != nil {
			changed = *a
		}
		changed.AdditionalMasterSecurityGroups = appendGroup(changed.AdditionalMasterSecurityGroups, group)
		changed.AdditionalSlaveSecurityGroups = appendGroup(changed.AdditionalSlaveSecurityGroups, group)
		return &changed
	})
	return typed[emr.ClusterEc2AttributesPtrOutput](added)
}

func appended(list pulumi.StringPtrInput, group string) pulumi.StringPtrInput {
	constant, isConstant := list.(pulumi.String)
	if list == nil || isConstant {
		value := string(constant)
		return pulumi.String(text(appendGroup(&value, group)))
	}
	return typed[pulumi.StringPtrOutput](list.ToStringPtrOutput().ApplyT(func(list *string) *string { return appendGroup(list, group) }))
}

// appendGroup writes the list without blanks: the provider compares it as one text
// with what it reads back.
func appendGroup(list *string, group string) *string {
	var groups []string
	for id := range strings.SplitSeq(text(list), ",") {
		if id = strings.TrimSpace(id); id != "" {
			groups = append(groups, id)
		}
	}
	if !slices.Contains(groups, group) {
		groups = append(groups, group)
	}
	joined := strings.Join(groups, ",")
	return &joined
}

// putFirst puts the bootstrap action before the others, so that their output is
// collected too.
func putFirst(actions emr.ClusterBootstrapActionArrayInput, b observe.Bootstrap) emr.ClusterBootstrapActionArrayInput {
	own := emr.ClusterBootstrapActionArgs{
		Name: pulumi.String(platform.Name), Path: pulumi.String(b.Path), Args: pulumi.ToStringArray(b.Args),
	}
	if actions == nil {
		return emr.ClusterBootstrapActionArray{own}
	}
	if list, known := actions.(emr.ClusterBootstrapActionArray); known {
		others := slices.DeleteFunc(slices.Clone(list), func(a emr.ClusterBootstrapActionInput) bool {
			known, ok := a.(emr.ClusterBootstrapActionArgs)
			return ok && known.Path == own.Path
		})
		return append(emr.ClusterBootstrapActionArray{own}, others...)
	}
	first := emr.ClusterBootstrapAction{Name: platform.Name, Path: b.Path, Args: b.Args}
	put := actions.ToClusterBootstrapActionArrayOutput().ApplyT(func(list []emr.ClusterBootstrapAction) []emr.ClusterBootstrapAction {
		others := slices.DeleteFunc(slices.Clone(list), func(a emr.ClusterBootstrapAction) bool { return a.Path == b.Path })
		return append([]emr.ClusterBootstrapAction{first}, others...)
	})
	return typed[emr.ClusterBootstrapActionArrayOutput](put)
}

// addTags adds the tags that the cluster has not.
func addTags(own pulumi.StringMapInput, wanted map[string]string) pulumi.StringMapInput {
	constant, isConstant := own.(pulumi.StringMap)
	switch {
	case len(wanted) == 0:
		return own
	case own == nil || isConstant:
		all := pulumi.ToStringMap(wanted)
		maps.Copy(all, constant)
		return all
	}
	return own.ToStringMapOutput().ApplyT(func(own map[string]string) map[string]string {
		all := maps.Clone(wanted)
		maps.Copy(all, own)
		return all
	}).(pulumi.StringMapOutput)
}

// typed returns the output that ApplyT makes of a function's result type.
func typed[T pulumi.Output](output pulumi.Output) T {
	out, ok := output.(T)
	if !ok {
		panic(fmt.Sprintf("ApplyT returns a %T and no longer a %T", output, out))
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
