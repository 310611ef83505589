package localcloud

import (
	"context"
	"errors"
	"fmt"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// machineParts returns instances, with what they boot on and read, as EC2 runs them.
func (c *cloud) machineParts() map[string]part {
	return map[string]part{
		"aws:ec2/vpc:Vpc": {once: true, put: requireNetwork},
		"aws:ec2/subnet:Subnet": {
			once: true,
			put: func(_ context.Context, r simulator.Result) error {
				return c.ec2.PutSubnet(r.ID, text(r.Outputs, "cidrBlock"))
			},
			remove: func(_ context.Context, r simulator.Request) error { return c.ec2.DeleteSubnet(r.ID) },
		},
		"aws:ssm/parameter:Parameter": {
			restores: true, // the engine keeps the value encrypted, the local cloud only in memory
			put: func(_ context.Context, r simulator.Result) error {
				c.ec2.PutParameter(r.ID, text(r.Outputs, "value"))
				return nil
			},
			remove: func(_ context.Context, r simulator.Request) error {
				c.ec2.DeleteParameter(r.ID)
				return nil
			},
		},
		"aws:ec2/instance:Instance": {
			once: true, put: c.runInstance,
			exists: func(_ context.Context, r simulator.Result) (bool, error) { return c.ec2.Exists(r.ID), nil },
			remove: c.terminateInstance,
		},
		"aws:ebs/volume:Volume": {remove: c.deleteVolume},
		"aws:ec2/volumeAttachment:VolumeAttachment": {
			once: true,
			put: func(ctx context.Context, r simulator.Result) error {
				return c.ec2.Attach(ctx, text(r.Outputs, "volumeId"), text(r.Outputs, "instanceId"))
			},
			exists: func(_ context.Context, r simulator.Result) (bool, error) {
				return c.ec2.Attached(text(r.Outputs, "volumeId"), text(r.Outputs, "instanceId")), nil
			},
			remove: c.detachVolume,
		},
	}
}

// requireNetwork refuses a VPC that is not the local cloud's network.
func requireNetwork(_ context.Context, r simulator.Result) error {
	if block := text(r.Outputs, "cidrBlock"); block != networkCIDR {
		return fmt.Errorf("cidrBlock: %q: the local cloud's network is %s; set the stack's network.cidr to it", block, networkCIDR)
	}
	return nil
}

func (c *cloud) runInstance(ctx context.Context, r simulator.Result) error {
	l := ec2.Launch{
		ID: r.ID, Type: text(r.Outputs, "instanceType"), UserData: text(r.Outputs, "userData"),
		Profile: text(r.Outputs, "iamInstanceProfile"),
	}
	if text(r.Outputs, "userDataBase64") != "" {
		return errors.New("userDataBase64: the local cloud supports userData only")
	}
	if list := r.Outputs["networkInterfaces"]; list.IsArray() && len(list.ArrayValue()) > 0 && list.ArrayValue()[0].IsObject() {
		l.InterfaceID = text(list.ArrayValue()[0].ObjectValue(), "networkInterfaceId")
	}
	c.kube.Evict(ctx) // pods of a lost node ended with it
	if err := c.ec2.Run(ctx, l); err != nil {
		return err
	}
	go c.restoreAfterUserData(context.WithoutCancel(ctx), r.ID)
	return nil
}

// restoreAfterUserData waits for an instance's user data, then starts the workloads
// on the volume that it has taken over from another instance.
func (c *cloud) restoreAfterUserData(ctx context.Context, id string) {
	if c.ec2.AwaitUserData(ctx, id) == nil {
		c.restoreWorkloads(ctx)
	}
}

func (c *cloud) terminateInstance(ctx context.Context, r simulator.Request) error {
	if err := simulator.DeletionRefusal(r); err != nil {
		return err
	}
	c.kube.Evict(ctx) // pods end with their node
	return c.ec2.Terminate(r.ID)
}

func (c *cloud) deleteVolume(_ context.Context, r simulator.Request) error {
	if c.ec2.Idle() { // the control node is deleted too, so its Kubernetes objects go with the volume
		if err := c.kube.DeleteAll(); err != nil {
			return err
		}
	}
	return c.ec2.DeleteVolume(r.ID)
}

// detachVolume stops the instance first if the resource says so, as the provider does.
func (c *cloud) detachVolume(ctx context.Context, r simulator.Request) error {
	if id := text(r.Outputs, "instanceId"); flag(r.Outputs, "stopInstanceBeforeDetaching") && c.ec2.Exists(id) {
		c.kube.Evict(ctx) // pods end with their node
		if err := c.ec2.Stop(id); err != nil {
			return err
		}
	}
	return c.ec2.Detach(ctx, text(r.Outputs, "volumeId"))
}
