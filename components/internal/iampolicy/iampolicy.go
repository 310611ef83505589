// Package iampolicy has AWS's JSON policy language as Go types, so that policies
// are built from values and never by concatenating strings. It covers the grammar
// only; the components decide what to allow.
package iampolicy

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
)

// Effects of a statement.
const (
	Allow = "Allow"
	Deny  = "Deny"
)

// AssumeRole is the action of who takes on a role.
const AssumeRole = "sts:AssumeRole"

// Document is a policy.
type Document struct {
	Version   string
	Statement []Statement
}

// Statement is one rule. Sid is mandatory here, to say what the rule is for.
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

// Principal is who a resource or trust policy applies to.
type Principal struct {
	AWS     []string `json:",omitempty"`
	Service []string `json:",omitempty"`
}

// Everyone returns the principal "*"; use it in Deny statements only.
func Everyone() *Principal { return &Principal{AWS: []string{"*"}} }

// Service returns the principal of AWS services, e.g. "ec2.amazonaws.com".
func Service(names ...string) *Principal { return &Principal{Service: names} }

// Root returns the principal of the account itself: its IAM policies decide who has access.
func Root(partition, account string) *Principal {
	return &Principal{AWS: []string{"arn:" + partition + ":iam::" + account + ":root"}}
}

// Trust lets a service assume a role, under an optional condition.
func Trust(sid, service string, condition Condition) Document {
	return New(Statement{Sid: sid, Effect: Allow, Principal: Service(service), Action: []string{AssumeRole}, Condition: condition})
}

// New returns a document in the current version of the language.
func New(statements ...Statement) Document {
	return Document{Version: "2012-10-17", Statement: statements}
}

// JSON renders the document. It leaves <, > and & as they are: IAM would count six characters
// for each of them.
func (d Document) JSON() (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return "", fmt.Errorf("render policy: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// Size returns how many characters IAM counts of the document: all but white space.
func (d Document) Size() int {
	text, err := d.JSON()
	if err != nil {
		return 0 // only of values that JSON lacks, which no statement can hold
	}
	return utf8.RuneCountInString(strings.Join(strings.Fields(text), ""))
}

// Account is the AWS account that the program deploys to, as the provider reports
// it, so that ARNs are also right in the partitions of China and GovCloud.
type Account struct {
	ID        string // twelve digits
	Partition string // aws, aws-cn, aws-us-gov
	DNSSuffix string // amazonaws.com
}

// Service is the name of a service in a region as a condition of kms:ViaService has it: s3 →
// s3.us-east-1.amazonaws.com.
func (a Account) Service(name, region string) string { return name + "." + region + "." + a.DNSSuffix }

// Render returns the JSON of the policy that f builds from the account and from
// values of other resources, in their order.
func Render(ctx *pulumi.Context, parent pulumi.Resource, f func(a Account, values []string) Document,
	values ...pulumi.StringInput) pulumi.StringOutput {
	partition := aws.GetPartitionOutput(ctx, aws.GetPartitionOutputArgs{}, pulumi.Parent(parent))
	in := []pulumi.StringInput{
		aws.GetCallerIdentityOutput(ctx, aws.GetCallerIdentityOutputArgs{}, pulumi.Parent(parent)).AccountId(),
		partition.Partition(),
		partition.DnsSuffix(),
	}
	return output.Join(append(in, values...), func(v []string) (string, error) {
		return f(Account{ID: v[0], Partition: v[1], DNSSuffix: v[2]}, v[3:]).JSON()
	})
}

// Managed returns the ARN of an AWS-managed policy, e.g. of
// "AmazonSSMManagedInstanceCore", in the account's partition.
func Managed(ctx *pulumi.Context, parent pulumi.Resource, name string) pulumi.StringOutput {
	partition := aws.GetPartitionOutput(ctx, aws.GetPartitionOutputArgs{}, pulumi.Parent(parent)).Partition()
	return pulumi.Sprintf("arn:%s:iam::aws:policy/%s", partition, name)
}
