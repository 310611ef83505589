package localcloud

import (
	"context"
	"fmt"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/simulator"
)

type vpc struct{ simulator.Recording }

// Create implements simulator.Handler.
func (vpc) Create(_ context.Context, r simulator.Request) (simulator.Result, error) {
	if block := text(r.Inputs, "cidrBlock"); block != networkCIDR {
		return simulator.Result{}, fmt.Errorf("cidrBlock: %q: the local cloud's network is %s; set the stack's network.cidr to it",
			block, networkCIDR)
	}
	return r.Recorded()
}

type subnet struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (s subnet) Create(_ context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error {
		return s.ec2.PutSubnet(recorded.ID, text(r.Inputs, "cidrBlock"))
	})
}

// Delete implements simulator.Handler.
func (s subnet) Delete(_ context.Context, r simulator.Request) error { return s.ec2.DeleteSubnet(r.ID) }

type parameter struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (p parameter) Create(_ context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error {
		p.ec2.PutParameter(text(r.Inputs, "name"), text(r.Inputs, "value"))
		return nil
	})
}

// Update implements simulator.Handler.
func (p parameter) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return p.Create(ctx, r)
}

// Read restores the value after a restart: the engine keeps it encrypted, the
// local cloud only in memory.
func (p parameter) Read(_ context.Context, r simulator.Request) (simulator.Result, bool, error) {
	if value := text(r.Outputs, "value"); value != "" && !p.ec2.HasParameter(r.ID) {
		p.ec2.PutParameter(r.ID, value)
	}
	return unchangedResult(r), true, nil
}

// Delete implements simulator.Handler.
func (p parameter) Delete(_ context.Context, r simulator.Request) error {
	p.ec2.DeleteParameter(r.ID)
	return nil
}

type instance struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (i instance) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error {
		l := ec2.Launch{
			ID: recorded.ID, Type: text(r.Inputs, "instanceType"), UserData: text(r.Inputs, "userData"),
			Profile: text(r.Inputs, "iamInstanceProfile"),
		}
		if encoded := text(r.Inputs, "userDataBase64"); encoded != "" {
			l.UserData, l.Base64 = encoded, true
		}
		if list := r.Inputs["networkInterfaces"]; list.IsArray() && len(list.ArrayValue()) > 0 && list.ArrayValue()[0].IsObject() {
			l.InterfaceID = text(list.ArrayValue()[0].ObjectValue(), "networkInterfaceId")
		}
		i.kube.Evict(ctx) // pods of a lost node ended with it
		if err := i.ec2.Run(ctx, l); err != nil {
			return err
		}
		go i.restoreAfterUserData(context.WithoutCancel(ctx), recorded.ID)
		return nil
	})
}

// restoreAfterUserData waits for an instance's user data, then starts the workloads
// on the volume that it has taken over from another instance.
func (i instance) restoreAfterUserData(ctx context.Context, id string) {
	if i.ec2.AwaitUserData(ctx, id) == nil {
		i.restoreWorkloads(ctx)
	}
}

// Read implements simulator.Handler.
func (i instance) Read(_ context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), i.ec2.Exists(r.ID), nil
}

// Delete implements simulator.Handler.
func (i instance) Delete(ctx context.Context, r simulator.Request) error {
	if err := simulator.DeletionRefusal(r); err != nil {
		return err
	}
	i.kube.Evict(ctx) // pods end with their node
	return i.ec2.Terminate(r.ID)
}

type volume struct {
	simulator.Recording
	*cloud
}

// Delete implements simulator.Handler.
func (v volume) Delete(_ context.Context, r simulator.Request) error {
	if v.ec2.Idle() { // the control node is deleted too, so its Kubernetes objects go with the volume
		if err := v.kube.DeleteAll(); err != nil {
			return err
		}
	}
	return v.ec2.DeleteVolume(r.ID)
}

type volumeAttachment struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (a volumeAttachment) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error {
		return a.ec2.Attach(ctx, text(r.Inputs, "volumeId"), text(r.Inputs, "instanceId"))
	})
}

// Read implements simulator.Handler.
func (a volumeAttachment) Read(_ context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), a.ec2.Attached(text(r.Outputs, "volumeId"), text(r.Outputs, "instanceId")), nil
}

// Delete implements simulator.Handler. The provider stops the instance first if the
// resource says so.
func (a volumeAttachment) Delete(ctx context.Context, r simulator.Request) error {
	if id := text(r.Outputs, "instanceId"); flag(r.Outputs, "stopInstanceBeforeDetaching") && a.ec2.Exists(id) {
		a.kube.Evict(ctx) // pods end with their node
		if err := a.ec2.Stop(id); err != nil {
			return err
		}
	}
	return a.ec2.Detach(ctx, text(r.Outputs, "volumeId"))
}
