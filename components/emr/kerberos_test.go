package emr_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/schema"
)

const securityType = "aws:emr/securityConfiguration:SecurityConfiguration"

// runWithPasswords runs the component where each parameter holds its name, in brackets.
func runWithPasswords(t *testing.T, k *schema.Kerberos) *recorder.Recording {
	t.Helper()
	a := validArgs()
	a.Kerberos = k
	rec, err := recorder.Run(program(a), append(recorderOptions("aws", "amazonaws.com"),
		recorder.WithFunction("aws:ssm/getParameter:getParameter", func(in resource.PropertyMap) resource.PropertyMap {
			require.Equal(t, resource.NewBoolProperty(true), in["withDecryption"])
			return resource.PropertyMap{"value": resource.NewStringProperty("<" + in["name"].StringValue() + ">")}
		}))...)
	require.NoError(t, err)
	return rec
}

// securityOf returns the security configuration of a cluster, and its node role's policy.
func securityOf(t *testing.T, a *emr.Args) (document, policy string) {
	t.Helper()
	rec := run(t, a)
	return one(t, rec, securityType, "emr-security").Inputs["configuration"].StringValue(),
		one(t, rec, policyType, "emr-node").Inputs["policy"].StringValue()
}

func TestKerberosPasswordsAreSecretValuesOfParameters(t *testing.T) {
	rec := runWithPasswords(t, &schema.Kerberos{
		Realm: "EC2.INTERNAL", PasswordParameter: "/observatory/kdc", TicketLifetimeHours: 12,
		Trust: &schema.RealmTrust{
			Realm: "AD.EXAMPLE.COM", Domain: "ad.example.com", AdminServer: "ad.example.com:749", KDCServer: "10.0.0.8",
			PasswordParameter: "/observatory/trust", JoinUser: "joiner", JoinPasswordParameter: "/aws/reference/secretsmanager/join",
		},
	})
	cluster := one(t, rec, clusterType, "emr-cluster")
	attributes := cluster.Inputs["kerberosAttributes"].ObjectValue()
	for key, value := range map[resource.PropertyKey]string{
		"kdcAdminPassword": "</observatory/kdc>", "crossRealmTrustPrincipalPassword": "</observatory/trust>",
		"adDomainJoinPassword": "</aws/reference/secretsmanager/join>",
	} {
		require.True(t, attributes[key].IsSecret(), "%s is %v", key, attributes[key].TypeString())
		require.Equal(t, value, attributes[key].SecretValue().Element.StringValue())
	}
	require.Equal(t, "EC2.INTERNAL", attributes["realm"].StringValue())
	require.Equal(t, "joiner", attributes["adDomainJoinUser"].StringValue())
	document := one(t, rec, securityType, "emr-security").Inputs["configuration"].StringValue()
	require.Contains(t, document, `"AuthenticationConfiguration":{"KerberosConfiguration":{"Provider":"ClusterDedicatedKdc",`+
		`"ClusterDedicatedKdcConfiguration":{"TicketLifetimeInHours":12,"CrossRealmTrustConfiguration":{"Realm":"AD.EXAMPLE.COM",`+
		`"Domain":"ad.example.com","AdminServer":"ad.example.com:749","KdcServer":"10.0.0.8"}}}}`)
}

func TestKerberosWithoutTrust(t *testing.T) {
	rec := runWithPasswords(t, &schema.Kerberos{Realm: "EC2.INTERNAL", PasswordParameter: "/observatory/kdc", TicketLifetimeHours: 24})
	attributes := one(t, rec, clusterType, "emr-cluster").Inputs["kerberosAttributes"].ObjectValue()
	require.ElementsMatch(t, []resource.PropertyKey{"realm", "kdcAdminPassword"}, attributes.StableKeys())
	require.NotContains(t, one(t, rec, securityType, "emr-security").Inputs["configuration"].StringValue(), "CrossRealmTrust")

	none := run(t, validArgs())
	require.NotContains(t, one(t, none, clusterType, "emr-cluster").Inputs, resource.PropertyKey("kerberosAttributes"))
	require.NotContains(t, one(t, none, securityType, "emr-security").Inputs["configuration"].StringValue(), "Authentication")
}

// The node role may assume exactly the roles that steps may have.
func TestRuntimeRoles(t *testing.T) {
	const roles = `"Resource":["arn:aws:iam::123456789012:role/sales","arn:aws:iam::123456789012:role/ml"]`
	a := validArgs()
	a.RuntimeRoles.ARNs = []string{"arn:aws:iam::123456789012:role/sales", "arn:aws:iam::123456789012:role/ml"}
	document, policy := securityOf(t, a)
	require.Contains(t, document, `"AuthorizationConfiguration":{"IAMConfiguration":{"EnableApplicationScopedIAMRole":true}}`)
	require.Contains(t, policy, `{"Sid":"AssumeRuntimeRoles","Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],`+roles+`}`)

	a.RuntimeRoles.PropagateSourceIdentity = true
	document, policy = securityOf(t, a)
	require.Contains(t, document, `"AuthorizationConfiguration":{"IAMConfiguration":{"EnableApplicationScopedIAMRole":true,`+
		`"ApplicationScopedIAMRoleConfiguration":{"PropagateSourceIdentity":true}}}`)
	require.Contains(t, policy, `"Action":["sts:AssumeRole","sts:TagSession","sts:SetSourceIdentity"],`+roles)

	document, policy = securityOf(t, validArgs())
	require.NotContains(t, document, "Authorization")
	require.NotContains(t, policy, "sts:")
}
