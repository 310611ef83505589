package main

import (
	"context"
	"errors"
	"slices"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
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

// nodes are instances of one type with what managed scaling counts each of them as.
type nodes struct {
	doctor.Instances
	units int
}

// clusterNeeds returns a cluster's instances. What managed scaling may add is counted as
// nodes of the last group or fleet.
func clusterNeeds(c schema.Cluster) []doctor.Instances {
	all := groupNodes(c)
	if c.Fleets != nil {
		all = fleetNodes(*c.Fleets)
	}
	var out []doctor.Instances
	have := 0
	for i, n := range all {
		out = append(out, n.Instances)
		if i > 0 { // the first are the primary nodes
			have += n.Count * n.units
		}
	}
	if c.ManagedScaling == nil || len(all) < 2 {
		return out
	}
	last := all[len(all)-1]
	if added := (c.ManagedScaling.Max - have + last.units - 1) / last.units; added > 0 {
		last.Count = added
		out = append(out, last.Instances)
	}
	return out
}

func groupNodes(c schema.Cluster) []nodes {
	var out []nodes
	for _, g := range c.Groups() {
		n := nodes{doctor.Instances{Type: g.InstanceType, Count: g.MaxCount(), Spot: g.BidPrice != ""}, 1}
		if c.ManagedScaling != nil && c.ManagedScaling.Unit == schema.UnitVCPU {
			n.units = max(1, vcpusOf(g.InstanceType))
		}
		out = append(out, n)
	}
	return out
}

// fleetNodes returns the instances of fleets' first types. A fleet takes any of its types,
// so that this is what it may need, not the least or the most.
func fleetNodes(f schema.Fleets) []nodes {
	var out []nodes
	for _, fleet := range []*schema.Fleet{&f.Master, f.Core, f.Task} {
		if fleet == nil || len(fleet.Types) == 0 {
			continue
		}
		first := fleet.Types[0]
		weight := max(1, first.Weight)
		add := func(units int, spot bool) {
			if units > 0 {
				out = append(out, nodes{doctor.Instances{Type: first.InstanceType, Count: (units + weight - 1) / weight, Spot: spot}, weight})
			}
		}
		add(fleet.OnDemand, false)
		add(fleet.Spot, true)
	}
	return out
}

// existingNetwork has the VPC judged by the rules that the program applies in a preview.
func existingNetwork(cfg schema.Config) *doctor.Network {
	n := &doctor.Network{VPC: cfg.Network.VPCID, Subnets: slices.Clone(cfg.Network.SubnetIDs)}
	if public := cfg.Network.PublicSubnetID; public != "" {
		n.Subnets = append(n.Subnets, public)
	}
	n.Judge = func(v platform.VPC) []doctor.Check {
		var l violation.List
		cfg.Network.CheckExistingVPC(&l, "network", v, cfg.NetworkUse())
		var out []doctor.Check
		for _, refused := range violation.All(l.Err()) {
			out = append(out, doctor.Check{Name: refused.Path, Found: refused.Value, Rule: refused.Rule, Remedy: refused.Remedy})
		}
		for _, w := range l.Warnings() { // passes, so that its remedy would not be printed
			out = append(out, doctor.Check{Name: w.Path, OK: true, Found: w.Value + "; " + w.Remedy, Rule: w.Rule})
		}
		return out
	}
	return n
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
	} else {
		n.Network = existingNetwork(cfg)
	}
	if cfg.ControlNode.Access == schema.AccessPublic {
		n.Addresses++
	}
	return n
}
