package emr

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/schema"
)

// kerberosAttributes returns the realm and its passwords.
func (b *builder) kerberosAttributes(k schema.Kerberos) emr.ClusterKerberosAttributesArgs {
	args := emr.ClusterKerberosAttributesArgs{Realm: pulumi.String(k.Realm), KdcAdminPassword: b.password(k.PasswordParameter)}
	if t := k.Trust; t != nil {
		args.CrossRealmTrustPrincipalPassword = b.password(t.PasswordParameter)
		if t.JoinUser != "" {
			args.AdDomainJoinUser, args.AdDomainJoinPassword = pulumi.String(t.JoinUser), b.password(t.JoinPasswordParameter)
		}
	}
	return args
}

// password returns the value of a parameter, as a secret.
func (b *builder) password(parameter string) pulumi.StringOutput {
	return output.Secret(ssm.LookupParameterOutput(b.Ctx, ssm.LookupParameterOutputArgs{
		Name: pulumi.String(parameter), WithDecryption: pulumi.Bool(true),
	}, pulumi.Parent(b.Parent)).Value())
}
