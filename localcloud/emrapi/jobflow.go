package emrapi

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Account is where a Store's clusters are, for their ARNs.
type Account struct{ Region, ID string }

// PutJobFlow adds a cluster in STARTING with its groups or fleets, bootstrap actions,
// policies and steps, and returns its id. It refuses what EMR refuses. It keeps the
// request whole, except the passwords of Kerberos.
func (s *Store) PutJobFlow(request emr.RunJobFlowInput) (string, error) {
	request, err := clone(request)
	if err != nil {
		return "", err
	}
	if err := checkJobFlow(&request); err != nil {
		return "", err
	}
	if k := request.KerberosAttributes; k != nil {
		request.KerberosAttributes = &types.KerberosAttributes{Realm: k.Realm}
	}
	added := &record{
		Request: &request, Cluster: s.newCluster(NewID("j"), &request), AutoTermination: request.AutoTerminationPolicy,
		ManagedScaling: request.ManagedScalingPolicy, Actions: commands(request.BootstrapActions),
	}
	for _, config := range request.Instances.InstanceGroups {
		added.Groups = append(added.Groups, newGroup(config))
	}
	for _, config := range request.Instances.InstanceFleets {
		added.Fleets = append(added.Fleets, newFleet(config))
	}
	for _, config := range request.Steps {
		added.Steps = append(added.Steps, newStep(config))
	}
	if err := s.putNew(added); err != nil {
		return "", err
	}
	return aws.ToString(added.Cluster.Id), nil
}

// Request returns the request with which a cluster was started.
func (s *Store) Request(id string) (emr.RunJobFlowInput, error) {
	found, err := s.snapshot(id)
	if err != nil {
		return emr.RunJobFlowInput{}, err
	}
	if found.Request == nil {
		return emr.RunJobFlowInput{}, fmt.Errorf("request of cluster %s: %w", id, ErrNotFound)
	}
	return clone(*found.Request)
}

// newCluster returns the cluster of a request as DescribeCluster shows it. Unlike EMR
// it gives applications no version.
func (s *Store) newCluster(id string, r *emr.RunJobFlowInput) types.Cluster {
	i := r.Instances
	cluster := types.Cluster{
		Id: &id, Name: r.Name, ReleaseLabel: r.ReleaseLabel, OSReleaseLabel: r.OSReleaseLabel, CustomAmiId: r.CustomAmiId,
		ClusterArn:   aws.String(fmt.Sprintf("arn:aws:elasticmapreduce:%s:%s:cluster/%s", s.Account.Region, s.Account.ID, id)),
		Applications: r.Applications, Configurations: r.Configurations, Tags: r.Tags,
		LogUri: r.LogUri, LogEncryptionKmsKeyId: r.LogEncryptionKmsKeyId, SecurityConfiguration: r.SecurityConfiguration,
		ServiceRole: r.ServiceRole, AutoScalingRole: r.AutoScalingRole, KerberosAttributes: r.KerberosAttributes,
		EbsRootVolumeSize: r.EbsRootVolumeSize, EbsRootVolumeIops: r.EbsRootVolumeIops,
		EbsRootVolumeThroughput: r.EbsRootVolumeThroughput, RepoUpgradeOnBoot: r.RepoUpgradeOnBoot,
		PlacementGroups: r.PlacementGroupConfigs,
		// EMR's default since release 5.10.
		ScaleDownBehavior:       cmp.Or(r.ScaleDownBehavior, types.ScaleDownBehaviorTerminateAtTaskCompletion),
		MonitoringConfiguration: r.MonitoringConfiguration, SessionEnabled: r.SessionEnabled, ExtendedSupport: r.ExtendedSupport,
		TerminationProtected: aws.Bool(aws.ToBool(i.TerminationProtected)), UnhealthyNodeReplacement: i.UnhealthyNodeReplacement,
		AutoTerminate:     aws.Bool(!aws.ToBool(i.KeepJobFlowAliveWhenNoSteps)),
		VisibleToAllUsers: aws.Bool(r.VisibleToAllUsers == nil || *r.VisibleToAllUsers),

		StepConcurrencyLevel:    aws.Int32(max(aws.ToInt32(r.StepConcurrencyLevel), 1)),
		NormalizedInstanceHours: aws.Int32(0),
		Ec2InstanceAttributes:   s.instanceAttributes(r),
		InstanceCollectionType:  types.InstanceCollectionTypeInstanceGroup,
	}
	if len(i.InstanceFleets) > 0 {
		cluster.InstanceCollectionType = types.InstanceCollectionTypeInstanceFleet
	}
	return cluster
}

// instanceAttributes returns what DescribeCluster shows of a request's instances. EMR
// puts a cluster into one of the requested subnets, here the first.
func (s *Store) instanceAttributes(r *emr.RunJobFlowInput) *types.Ec2InstanceAttributes {
	i := r.Instances
	subnets := subnetIDs(i)
	return &types.Ec2InstanceAttributes{
		Ec2SubnetId: aws.String(subnets[0]), RequestedEc2SubnetIds: subnets, Ec2KeyName: i.Ec2KeyName, IamInstanceProfile: r.JobFlowRole,
		Ec2AvailabilityZone: aws.String(s.Account.Region + "a"), RequestedEc2AvailabilityZones: requestedZones(i),
		EmrManagedMasterSecurityGroup: i.EmrManagedMasterSecurityGroup, EmrManagedSlaveSecurityGroup: i.EmrManagedSlaveSecurityGroup,
		ServiceAccessSecurityGroup: i.ServiceAccessSecurityGroup, AdditionalMasterSecurityGroups: i.AdditionalMasterSecurityGroups,
		AdditionalSlaveSecurityGroups: i.AdditionalSlaveSecurityGroups,
	}
}

// subnetIDs returns the subnets that a request names, in one field or the other.
func subnetIDs(i *types.JobFlowInstancesConfig) []string {
	if id := aws.ToString(i.Ec2SubnetId); id != "" {
		return []string{id}
	}
	return i.Ec2SubnetIds
}

func requestedZones(i *types.JobFlowInstancesConfig) []string {
	if i.Placement == nil {
		return nil
	}
	if zone := aws.ToString(i.Placement.AvailabilityZone); zone != "" {
		return []string{zone}
	}
	return i.Placement.AvailabilityZones
}

// commands returns bootstrap actions as ListBootstrapActions shows them.
func commands(actions []types.BootstrapActionConfig) []types.Command {
	var out []types.Command
	for _, a := range actions {
		out = append(out, types.Command{Name: a.Name, ScriptPath: a.ScriptBootstrapAction.Path, Args: a.ScriptBootstrapAction.Args})
	}
	return out
}

// newGroup returns an instance group as ListInstanceGroups shows it.
func newGroup(config types.InstanceGroupConfig) types.InstanceGroup {
	group := types.InstanceGroup{
		Id: aws.String(NewID("ig")), Name: config.Name, InstanceGroupType: types.InstanceGroupType(config.InstanceRole),
		InstanceType: config.InstanceType, RequestedInstanceCount: config.InstanceCount, BidPrice: config.BidPrice, Market: config.Market,
		Configurations: config.Configurations, LastSuccessfullyAppliedConfigurations: config.Configurations, CustomAmiId: config.CustomAmiId,
		ConfigurationsVersion: aws.Int64(0), LastSuccessfullyAppliedConfigurationsVersion: aws.Int64(0), ShrinkPolicy: &types.ShrinkPolicy{},
		AutoScalingPolicy: describePolicy(config.AutoScalingPolicy),
	}
	if config.BidPrice != nil {
		group.Market = cmp.Or(group.Market, types.MarketTypeSpot)
	}
	group.Market = cmp.Or(group.Market, types.MarketTypeOnDemand)
	if ebs := config.EbsConfiguration; ebs != nil {
		group.EbsOptimized, group.EbsBlockDevices = ebs.EbsOptimized, blockDevices(ebs)
	}
	return group
}

// newFleet returns an instance fleet as ListInstanceFleets shows it.
func newFleet(config types.InstanceFleetConfig) types.InstanceFleet {
	fleet := types.InstanceFleet{
		Id: aws.String(NewID("if")), Name: config.Name, InstanceFleetType: config.InstanceFleetType, Context: config.Context,
		TargetOnDemandCapacity: aws.Int32(aws.ToInt32(config.TargetOnDemandCapacity)),
		TargetSpotCapacity:     aws.Int32(aws.ToInt32(config.TargetSpotCapacity)),
		ResizeSpecifications:   config.ResizeSpecifications, LaunchSpecifications: config.LaunchSpecifications,
	}
	upperStrategies(fleet.LaunchSpecifications)
	for _, t := range config.InstanceTypeConfigs {
		spec := types.InstanceTypeSpecification{
			InstanceType: t.InstanceType, BidPrice: t.BidPrice, BidPriceAsPercentageOfOnDemandPrice: t.BidPriceAsPercentageOfOnDemandPrice,
			Configurations: t.Configurations, CustomAmiId: t.CustomAmiId, Priority: t.Priority,
			WeightedCapacity: aws.Int32(max(aws.ToInt32(t.WeightedCapacity), 1)),
		}
		if t.BidPrice == nil && t.BidPriceAsPercentageOfOnDemandPrice == nil { // API reference, InstanceTypeConfig
			spec.BidPriceAsPercentageOfOnDemandPrice = aws.Float64(100)
		}
		if t.EbsConfiguration != nil {
			spec.EbsOptimized, spec.EbsBlockDevices = t.EbsConfiguration.EbsOptimized, blockDevices(t.EbsConfiguration)
		}
		fleet.InstanceTypeSpecifications = append(fleet.InstanceTypeSpecifications, spec)
	}
	return fleet
}

// upperStrategies writes allocation strategies as EMR's answers do: in capitals, with
// underscores (terraform-provider-aws, flattenSpotProvisioningSpecification).
func upperStrategies(launch *types.InstanceFleetProvisioningSpecifications) {
	if launch == nil {
		return
	}
	upper := func(strategy string) string { return strings.ReplaceAll(strings.ToUpper(strategy), "-", "_") }
	if spot := launch.SpotSpecification; spot != nil {
		spot.AllocationStrategy = types.SpotProvisioningAllocationStrategy(upper(string(spot.AllocationStrategy)))
	}
	if onDemand := launch.OnDemandSpecification; onDemand != nil {
		onDemand.AllocationStrategy = types.OnDemandProvisioningAllocationStrategy(upper(string(onDemand.AllocationStrategy)))
	}
}

// blockDevices lists the volumes of one instance, from /dev/sdb on.
func blockDevices(ebs *types.EbsConfiguration) []types.EbsBlockDevice {
	var out []types.EbsBlockDevice
	for _, config := range ebs.EbsBlockDeviceConfigs {
		for range max(aws.ToInt32(config.VolumesPerInstance), 1) {
			device := fmt.Sprintf("/dev/sd%c", 'b'+rune(len(out)))
			out = append(out, types.EbsBlockDevice{Device: &device, VolumeSpecification: config.VolumeSpecification})
		}
	}
	return out
}

func (s *Server) runJobFlow(input *emr.RunJobFlowInput) (*emr.RunJobFlowOutput, error) {
	if profile := aws.ToString(input.JobFlowRole); profile != "" && !s.sees(profile) {
		return nil, validationError("Invalid InstanceProfile: %s.", profile) // terraform-provider-aws#3027
	}
	id, err := s.store.PutJobFlow(*input)
	if err != nil {
		return nil, err
	}
	found, err := s.store.snapshot(id)
	if err != nil {
		return nil, err
	}
	return &emr.RunJobFlowOutput{JobFlowId: &id, ClusterArn: found.Cluster.ClusterArn}, nil
}
