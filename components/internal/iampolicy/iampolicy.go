// Package iampolicy is the JSON policy language of AWS as Go types, so that
// policies are built from values and never by joining strings. It knows the
// grammar, not the services: which action is wise where is the components'
// business.
package iampolicy

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Effects of a statement.
const (
	Allow = "Allow"
	Deny  = "Deny"
)

// Document is a policy.
type Document struct {
	Version   string
	Statement []Statement
}

// Statement is one rule. Sid is mandatory here: it says why the rule exists.
type Statement struct {
	Sid       string
	Effect    string
	Principal *Principal `json:",omitempty"` // nil in identity policies
	Action    []string
	Resource  []string  `json:",omitempty"` // nil in trust policies
	Condition Condition `json:",omitempty"`
}

// Condition maps operator → key → values.
type Condition map[string]map[string][]string

// Principal names whom a resource policy speaks of.
type Principal struct {
	AWS     []string `json:",omitempty"`
	Service []string `json:",omitempty"`
}

// Everyone is the principal "*"; use it in Deny statements only.
func Everyone() *Principal { return &Principal{AWS: []string{"*"}} }

// Service is the principal of AWS services, e.g. "ec2.amazonaws.com".
func Service(names ...string) *Principal { return &Principal{Service: names} }

// Root is the account itself: its IAM policies decide who may.
func Root(partition, account string) *Principal {
	return &Principal{AWS: []string{"arn:" + partition + ":iam::" + account + ":root"}}
}

// Trust lets a service assume a role, under an optional condition.
func Trust(sid, service string, condition Condition) Document {
	return New(Statement{Sid: sid, Effect: Allow, Principal: Service(service), Action: []string{"sts:AssumeRole"}, Condition: condition})
}

// New makes a document in the current version of the language.
func New(statements ...Statement) Document {
	return Document{Version: "2012-10-17", Statement: statements}
}

// JSON renders the document.
func (d Document) JSON() (string, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("render policy: %w", err)
	}
	return string(b), nil
}

// Account says where the program runs. It is asked of the provider, so that
// the partitions of China and GovCloud come out right.
type Account struct {
	ID        string // twelve digits
	Partition string // aws, aws-cn, aws-us-gov
	DNSSuffix string // amazonaws.com
}

// Render builds a policy's JSON from the account and from values of other
// resources, which f gets in their order.
func Render(ctx *pulumi.Context, parent pulumi.Resource, f func(a Account, values []string) Document, values ...pulumi.StringInput) pulumi.StringOutput {
	partition := aws.GetPartitionOutput(ctx, aws.GetPartitionOutputArgs{}, pulumi.Parent(parent))
	all := []any{
		aws.GetCallerIdentityOutput(ctx, aws.GetCallerIdentityOutputArgs{}, pulumi.Parent(parent)).AccountId(),
		partition.Partition(),
		partition.DnsSuffix(),
	}
	for _, v := range values {
		all = append(all, v)
	}
	return pulumi.All(all...).ApplyT(func(resolved []any) (string, error) {
		plain := make([]string, len(resolved))
		for i, r := range resolved {
			s, ok := r.(string)
			if !ok {
				return "", fmt.Errorf("render policy: value %d is %T, not a string", i, r)
			}
			plain[i] = s
		}
		return f(Account{ID: plain[0], Partition: plain[1], DNSSuffix: plain[2]}, plain[3:]).JSON()
	}).(pulumi.StringOutput)
}

// Managed is the ARN of an AWS-managed policy, e.g. of
// "AmazonSSMManagedInstanceCore", in the account's partition.
func Managed(ctx *pulumi.Context, parent pulumi.Resource, name string) pulumi.StringOutput {
	partition := aws.GetPartitionOutput(ctx, aws.GetPartitionOutputArgs{}, pulumi.Parent(parent)).Partition()
	return pulumi.Sprintf("arn:%s:iam::aws:policy/%s", partition, name)
}
