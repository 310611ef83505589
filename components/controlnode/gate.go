package controlnode

import (
	"fmt"
	"strconv"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/schema"
)

// unreachableHints say what is wrong if nothing answers, by the way to the node.
var unreachableHints = map[string]string{
	schema.AccessPublic: "or operatorCidrs lacks this machine's address, which `" + schema.OwnAddressCommand + "` prints",
	schema.AccessVPC:    "or this machine has no route to the VPC (VPN, peering), or is in none of the operatorCidrs",
	schema.AccessTunnel: "or no tunnel is open: run what `observatory tunnel` prints",
}

// createGate creates the command that waits, on the machine that runs the
// program, until the API answers. It runs again when the instance, the volume's
// attachment or a certificate is replaced. It follows allowed, without which the node does
// not boot.
func (b *builder) createGate(at addresses, m machine, p pki, allowed pulumi.Resource) (*local.Command, error) {
	gate, err := local.NewCommand(b.Ctx, b.Name("gate"), &local.CommandArgs{
		Create:      pulumi.String(boot.Gate()),
		Interpreter: pulumi.ToStringArray([]string{"/bin/sh", "-c"}),
		Environment: pulumi.StringMap{
			boot.GateAPIServer:         at.apiServer,
			boot.GateHint:              pulumi.String(unreachableHints[b.args.Access]),
			boot.GateServerCA:          p.cas[serverCA].Cert,
			boot.GateClientCertificate: p.administrator.Cert,
			boot.GateClientKey:         p.administrator.Key,
			boot.GateDeadlineSeconds:   pulumi.String(strconv.Itoa(int(boot.GateDeadline.Seconds()))),
			boot.GatePauseSeconds:      pulumi.String(strconv.Itoa(int(boot.GatePause.Seconds()))),
		},
		AddPreviousOutputInEnv: pulumi.Bool(false),
		Triggers:               pulumi.Array{m.instance.ID(), m.attachment.ID()},
	}, b.Options(pulumi.DependsOn([]pulumi.Resource{allowed}))...)
	if err != nil {
		return nil, fmt.Errorf("create gate %s: %w", b.Name("gate"), err)
	}
	return gate, nil
}

// kubeconfig is the administrator's kubeconfig. It resolves after the gate.
func kubeconfig(at addresses, p pki, gate *local.Command) pulumi.StringOutput {
	in := []pulumi.StringInput{at.apiServer, p.cas[serverCA].Cert, p.administrator.Cert, p.administrator.Key, gate.Stdout}
	return output.Secret(output.Join(in, func(v []string) (string, error) {
		return boot.Kubeconfig(boot.Credentials{APIServer: v[0], ServerCA: v[1], ClientCertificate: v[2], ClientKey: v[3]})
	}))
}
