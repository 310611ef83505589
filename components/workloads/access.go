package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// secret is a Kubernetes Secret.
type secret struct {
	name pulumi.StringInput
	// restartOn is the key whose change restarts the pods that mount the Secret,
	// "" for none; hash is the hash of its value.
	restartOn string
	hash      pulumi.StringInput
}

// access is how people and programs log in to a workload.
type access struct {
	password pulumi.StringOutput // secret
	secret   secret              // platform.AccessSecret of the workload
}

// toolsAccess is serverAccess of the tools, whose password is a bearer token. It creates nothing
// without the profiler, whose tables they read.
func (o objects) toolsAccess(args *Args, from certificates) (access, error) {
	if !args.Profiler.Enabled {
		return access{password: output.Secret(pulumi.String(""))}, nil
	}
	return o.serverAccess(platform.WorkloadTools, from, true)
}

// serverAccess creates a workload's password, and a Secret with it and the workload's
// certificate. The pods of the workload restart with a new certificate, and if the
// server reads its password at each start, also with a new password.
func (o objects) serverAccess(w platform.Workload, from certificates, readsPassword bool) (access, error) {
	password, err := random.NewRandomPassword(o.Ctx, o.Name(string(w)+"-password"), &random.RandomPasswordArgs{
		Length: pulumi.Int(32), Special: pulumi.Bool(false), // it travels in basic authentication
	}, o.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create password of %s: %w", w, err)
	}
	server, err := from.of(w)
	if err != nil {
		return access{}, err
	}
	name := platform.AccessSecret(w)
	values := pulumi.StringMap{
		platform.AccessCertificate: server.Cert, platform.AccessKey: server.Key,
		platform.AccessCACert: from.trusted, platform.AccessPassword: password.Result,
	}
	if from.serverName != "" {
		values[platform.AccessServerName] = pulumi.String(from.serverName)
	}
	data, ok := pulumi.ToSecret(values).(pulumi.StringMapOutput)
	if !ok {
		return access{}, fmt.Errorf("create Secret %s: data is not a string map", name)
	}
	created, err := corev1.NewSecret(o.Ctx, o.Name(name), &corev1.SecretArgs{Metadata: o.meta(name), StringData: data}, o.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create Secret %s: %w", name, err)
	}
	read := pulumi.StringMap{platform.AccessCertificate: server.Cert}
	if readsPassword {
		read[platform.AccessPassword] = hashOf(pulumi.StringMap{platform.AccessPassword: password.Result})
	}
	return access{
		password: output.Secret(password.Result),
		secret: secret{
			name: created.Metadata.Name().Elem(),
			// The certificate changes with its key.
			restartOn: platform.AccessCertificate,
			// The hash of a random password of 32 characters reveals nothing about it. As
			// a secret it would hide every change of the pod in a preview.
			hash: output.Public(hashOf(read)),
		},
	}, nil
}
