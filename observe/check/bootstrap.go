package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
)

const printAgain = "use the one that `observatory observe print` prints"

func (e *examination) listActions(ctx context.Context) ([]types.Command, error) {
	var actions []types.Command
	pages := emr.NewListBootstrapActionsPaginator(e.EMR, &emr.ListBootstrapActionsInput{ClusterId: e.cluster.Id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list bootstrap actions: %w", err)
		}
		actions = append(actions, page.BootstrapActions...)
	}
	return actions, nil
}

// hostsOnly reports whether the cluster asks for its hosts alone: its action is the
// platform's with the argument that says so, and no Spark is there.
func (e *examination) hostsOnly() bool {
	wanted := append(slices.Clone(e.Observe.Bootstrap.Args), platform.BootstrapHostsOnly)
	return !e.hasSpark() && slices.ContainsFunc(e.actions, func(action types.Command) bool {
		return aws.ToString(action.ScriptPath) == e.Observe.Bootstrap.Path && slices.Equal(action.Args, wanted)
	})
}

// bootstrap looks for the platform's bootstrap action, or else for what is left of it:
// the action of an earlier version, or a copy somewhere else.
func (e *examination) bootstrap(context.Context) ([]Miss, error) {
	if e.actionsErr != nil {
		return nil, e.actionsErr
	}
	var misses []Miss
	for _, action := range e.actions {
		miss, own := e.compare(action)
		if own && miss == nil {
			return nil, nil
		}
		if own {
			misses = append(misses, *miss)
		}
	}
	if len(misses) > 0 {
		return misses[:1], nil
	}
	return []Miss{{PartBootstrap, fmt.Sprintf("%d others", len(e.actions)), "must be among the cluster's: " + e.Observe.Bootstrap.Path,
		printAgain + ", before the others"}}, nil
}

// compare reports whether an action is the platform's, and what is wrong with it.
func (e *examination) compare(action types.Command) (miss *Miss, own bool) {
	wanted, uri := e.Observe.Bootstrap, aws.ToString(action.ScriptPath)
	switch earlier := artifact(uri) == artifact(wanted.Path); {
	case uri == wanted.Path && (slices.Equal(action.Args, wanted.Args) || e.hostsOnly()):
		return nil, true
	case uri == wanted.Path && slices.Contains(action.Args, wanted.Hash):
		return &Miss{PartBootstrap, fmt.Sprintf("arguments %q", action.Args), fmt.Sprintf("must be %q", wanted.Args), printAgain}, true
	case uri == wanted.Path || earlier && !slices.Contains(action.Args, wanted.Hash):
		return &Miss{PartBootstrapHash, fmt.Sprintf("arguments %q", action.Args), fmt.Sprintf("must be %q", wanted.Args),
			"the cluster was started with another version of the platform, and sends what that one collects; " + printAgain}, true
	case earlier, slices.Contains(action.Args, wanted.Hash), path.Base(uri) == path.Base(wanted.Path) && overlap(action.Args, wanted.Args):
		return &Miss{PartBootstrapPath, uri, "must be " + wanted.Path, "a copy is not updated with the platform; " + printAgain}, true
	}
	return nil, false
}

// artifact returns a script's URI without the folder that is named after its content.
func artifact(uri string) string { return path.Dir(path.Dir(uri)) + "/" + path.Base(uri) }

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// configurations compares the cluster's configurations with those that the platform
// needs, and then those of groups and fleets, which replace the cluster's by key.
func (e *examination) configurations(context.Context) ([]Miss, error) {
	if e.hostsOnly() {
		return nil, nil
	}
	wanted := e.Observe.Configurations
	if !e.hasSpark() { // said once, by PartSpark
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(c observe.Classification) bool { return c.Classification == "spark-defaults" })
	}
	var misses []Miss
	for _, lack := range observe.Lacks(classifications(e.cluster.Configurations), wanted) {
		misses = append(misses, missing(lack, ""))
	}
	if e.partsErr != nil {
		return nil, e.partsErr
	}
	for _, part := range e.parts {
		for _, lack := range observe.Lacks(classifications(part.list), wanted) {
			if lack.Set {
				misses = append(misses, missing(lack, " of "+part.name))
			}
		}
	}
	return misses, nil
}

func missing(lack observe.Lack, of string) Miss {
	m := Miss{Part(lack.Classification + of), lack.Key + " is missing", fmt.Sprintf("must be %q", lack.Wanted), "set it"}
	if lack.Set {
		m.Found, m.Rule = fmt.Sprintf("%s is %q", lack.Key, lack.Value), fmt.Sprintf("must have %q", lack.Wanted)
		m.Remedy = "EMR replaces a value by its key: add this to yours"
	}
	if strings.HasPrefix(lack.Wanted, observe.AgentFlag) || strings.HasSuffix(lack.Wanted, observe.AgentFlag) {
		m.Remedy += "; without the agent Spark sends nothing"
	}
	m.Remedy += "; `observatory observe print --configurations FILE` merges the list"
	return m
}

// partConfiguration is the list of a group or of an instance type of a fleet.
type partConfiguration struct {
	name    string
	primary bool // of primary nodes
	list    []types.Configuration
}

func (e *examination) listParts(ctx context.Context) ([]partConfiguration, error) {
	var parts []partConfiguration
	if e.cluster.InstanceCollectionType == types.InstanceCollectionTypeInstanceFleet {
		pages := emr.NewListInstanceFleetsPaginator(e.EMR, &emr.ListInstanceFleetsInput{ClusterId: e.cluster.Id})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("list instance fleets: %w", err)
			}
			for _, fleet := range page.InstanceFleets {
				for _, of := range fleet.InstanceTypeSpecifications {
					parts = append(parts, partConfiguration{
						fmt.Sprintf("%s in the %s fleet", aws.ToString(of.InstanceType), fleet.InstanceFleetType),
						fleet.InstanceFleetType == types.InstanceFleetTypeMaster, of.Configurations,
					})
				}
			}
		}
		return parts, nil
	}
	pages := emr.NewListInstanceGroupsPaginator(e.EMR, &emr.ListInstanceGroupsInput{ClusterId: e.cluster.Id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list instance groups: %w", err)
		}
		for _, group := range page.InstanceGroups {
			parts = append(parts, partConfiguration{
				fmt.Sprintf("the %s instance group", group.InstanceGroupType),
				group.InstanceGroupType == types.InstanceGroupTypeMaster, group.Configurations,
			})
		}
	}
	return parts, nil
}

// primaryAlone reports whether the cluster has no other nodes than primary ones. It is
// false if the groups and fleets cannot be read: few clusters have no others.
func (e *examination) primaryAlone() bool {
	return e.partsErr == nil && len(e.parts) > 0 &&
		!slices.ContainsFunc(e.parts, func(p partConfiguration) bool { return !p.primary })
}

func classifications(list []types.Configuration) []observe.Classification {
	var out []observe.Classification
	for _, c := range list {
		out = append(out, observe.Classification{
			Classification: aws.ToString(c.Classification), Properties: c.Properties, Configurations: classifications(c.Configurations),
		})
	}
	return out
}
