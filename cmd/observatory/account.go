package main

import (
	"context"
	"errors"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/schema"
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
	return doctor.ExamineAccount(ctx, ambient, needsOf(cfg)), nil
}

// needsOf returns what a stack with this configuration creates.
func needsOf(cfg schema.Config) doctor.Needs {
	n := doctor.Needs{Region: cfg.Region, Instances: []doctor.Instances{{Type: cfg.ControlNode.InstanceType, Count: 1}}}
	for _, g := range cfg.InstanceGroups() {
		n.Instances = append(n.Instances, doctor.Instances{Type: g.InstanceType, Count: g.Count, Spot: g.BidPrice != ""})
	}
	if cfg.Network.VPCID == "" {
		n.VPCs, n.Addresses = 1, 1 // the address is the NAT gateway's
	}
	if cfg.ControlNode.Access == schema.AccessPublic {
		n.Addresses++
	}
	return n
}
