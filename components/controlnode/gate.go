package controlnode

import (
	"fmt"
	"strconv"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
)

func apiServer(eni *ec2.NetworkInterface) pulumi.StringOutput {
	return eni.PrivateIp.ApplyT(boot.APIServer).(pulumi.StringOutput) //nolint:forcetypeassert // by the function's type
}

// gate waits, where the program runs, until the API answers. It waits again
// whenever the instance, the attachment or a certificate is a new one.
func (b *builder) gate(eni *ec2.NetworkInterface, m machine, p pki) (*local.Command, error) {
	gate, err := local.NewCommand(b.ctx, b.name("gate"), &local.CommandArgs{
		Create:      pulumi.String(boot.Gate()),
		Interpreter: pulumi.ToStringArray([]string{"/bin/sh", "-c"}),
		Environment: pulumi.StringMap{
			boot.GateAPIServer:         apiServer(eni),
			boot.GateServerCA:          p.authorities[serverCA].cert,
			boot.GateClientCertificate: p.administrator.cert,
			boot.GateClientKey:         p.administrator.key,
			boot.GateDeadlineSeconds:   pulumi.String(strconv.Itoa(int(boot.GateDeadline.Seconds()))),
			boot.GatePauseSeconds:      pulumi.String(strconv.Itoa(int(boot.GatePause.Seconds()))),
		},
		AddPreviousOutputInEnv: pulumi.Bool(false),
		Triggers:               pulumi.Array{m.instance.ID(), m.attachment.ID()},
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create gate %s: %w", b.name("gate"), err)
	}
	return gate, nil
}

// kubeconfig is known once the gate is open.
func kubeconfig(eni *ec2.NetworkInterface, p pki, gate *local.Command) pulumi.StringOutput {
	return secret(pulumi.All(
		apiServer(eni), p.authorities[serverCA].cert, p.administrator.cert, p.administrator.key, gate.Stdout,
	).ApplyT(func(v []any) (string, error) {
		return boot.Kubeconfig(boot.Credentials{
			APIServer:         v[0].(string), //nolint:forcetypeassert // StringOutputs, all of them
			ServerCA:          v[1].(string), //nolint:forcetypeassert // likewise
			ClientCertificate: v[2].(string), //nolint:forcetypeassert // likewise
			ClientKey:         v[3].(string), //nolint:forcetypeassert // likewise
		})
	}).(pulumi.StringOutput)) //nolint:forcetypeassert // by the function's type
}
