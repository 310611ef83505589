package main

import (
	"context"
	"errors"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// examineAccount compares the account of the ambient AWS configuration with what
// the stack's file requires.
func examineAccount(ctx context.Context, s *settings) (doctor.Report, error) {
	if !s.stackGiven {
		return doctor.Report{}, errors.New("doctor --aws: no stack given; pass the stack to deploy to AWS, for example --stack dev")
	}
	project, err := projectDir()
	if err != nil {
		return doctor.Report{}, err
	}
	_, cfg, err := config.ReadStackFile(project, s.stack)
	if err != nil {
		return doctor.Report{}, err
	}
	ambient, err := local.AWSConfig(ctx)
	if err != nil {
		return doctor.Report{}, err
	}
	n := needsOf(cfg)
	n.Stack, n.VCPUs = s.stack, vcpusOf
	return doctor.ExamineAccount(ctx, ambient, n), nil
}

// vcpusOf returns the vCPUs of a type that EMR takes, else 0.
func vcpusOf(instanceType string) int {
	known, _ := facts.InstanceTypeNamed(instanceType)
	return known.VCPUs
}

// clusterNeeds returns a cluster's instances. What managed scaling may add is counted as
// nodes of the last group or fleet.
func clusterNeeds(c schema.Cluster) []doctor.Instances {
	var out []doctor.Instances
	if c.Fleets != nil {
		out = fleetNeeds(*c.Fleets)
	} else {
		for _, g := range c.Groups() {
			out = append(out, doctor.Instances{Type: g.InstanceType, Count: g.MaxCount(), Spot: g.BidPrice != ""})
		}
	}
	if c.ManagedScaling == nil || len(out) < 2 { // the first are the primary nodes
		return out
	}
	last := out[len(out)-1]
	if last.Count = addedNodes(c, out[1:]); last.Count > 0 {
		out = append(out, last)
	}
	return out
}

// addedNodes returns how many nodes of the last of the workers EMR may add to them, up to
// the limit of managed scaling in its unit.
func addedNodes(c schema.Cluster, workers []doctor.Instances) int {
	units := func(doctor.Instances) int { return 1 }
	have := 0
	switch c.ManagedScaling.Unit {
	case schema.UnitVCPU:
		units = func(i doctor.Instances) int { return max(1, vcpusOf(i.Type)) }
	case schema.UnitFleetUnits:
		weights := map[string]int{}
		for _, fleet := range []*schema.Fleet{c.Fleets.Core, c.Fleets.Task} {
			if fleet != nil && len(fleet.Types) > 0 {
				weights[fleet.Types[0].InstanceType] = max(1, fleet.Types[0].Weight)
			}
		}
		units = func(i doctor.Instances) int { return weights[i.Type] }
	}
	for _, i := range workers {
		have += i.Count * units(i)
	}
	each := units(workers[len(workers)-1])
	return max(0, (c.ManagedScaling.Max-have+each-1)/each)
}

// fleetNeeds returns the instances of fleets' first types. A fleet takes any of its types,
// so that this is what it may need, not the least or the most.
func fleetNeeds(f schema.Fleets) []doctor.Instances {
	var out []doctor.Instances
	for _, fleet := range []*schema.Fleet{&f.Master, f.Core, f.Task} {
		if fleet == nil || len(fleet.Types) == 0 {
			continue
		}
		first := fleet.Types[0]
		weight := max(1, first.Weight)
		add := func(units int, spot bool) {
			if units > 0 {
				out = append(out, doctor.Instances{Type: first.InstanceType, Count: (units + weight - 1) / weight, Spot: spot})
			}
		}
		add(fleet.OnDemand, false)
		add(fleet.Spot, true)
	}
	return out
}

// needsOf returns what a stack with this configuration creates, and what its clusters
// grow to.
func needsOf(cfg schema.Config) doctor.Needs {
	n := doctor.Needs{Region: cfg.Region, Instances: []doctor.Instances{{Type: cfg.ControlNode.InstanceType, Count: 1}}}
	for _, key := range cfg.ClusterKeys() {
		c := cfg.Clusters[key]
		n.Clusters = true
		n.Instances = append(n.Instances, clusterNeeds(c)...)
	}
	if cfg.Network.VPCID == "" {
		n.VPCs, n.Addresses = 1, 1 // the address is the NAT gateway's
	}
	if cfg.ControlNode.Access == schema.AccessPublic {
		n.Addresses++
	}
	return n
}
