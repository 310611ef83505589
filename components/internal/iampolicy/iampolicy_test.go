package iampolicy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
)

func TestDocumentJSON(t *testing.T) {
	for _, c := range []struct {
		name string
		d    iampolicy.Document
		want string
	}{
		{
			"identity policy", iampolicy.New(iampolicy.Statement{Sid: "A", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"},
				Resource: []string{"arn:aws:s3:::b/*"}}),
			`{"Version":"2012-10-17","Statement":[{"Sid":"A","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]}]}`,
		},
		{
			"trust without condition", iampolicy.Trust("T", "ec2.amazonaws.com", nil),
			`{"Version":"2012-10-17","Statement":[{"Sid":"T","Effect":"Allow",` +
				`"Principal":{"Service":["ec2.amazonaws.com"]},"Action":["sts:AssumeRole"]}]}`,
		},
		{
			"deny everyone", iampolicy.New(iampolicy.Statement{
				Sid: "D", Effect: iampolicy.Deny, Principal: iampolicy.Everyone(), Action: []string{"s3:*"}, Resource: []string{"r"},
				Condition: iampolicy.Condition{"Bool": {"aws:SecureTransport": {"false"}}},
			}),
			`{"Version":"2012-10-17","Statement":[{"Sid":"D","Effect":"Deny",` +
				`"Principal":{"AWS":["*"]},"Action":["s3:*"],"Resource":["r"],"Condition":{"Bool":{"aws:SecureTransport":["false"]}}}]}`,
		},
		{
			"the account", iampolicy.New(iampolicy.Statement{Sid: "R", Effect: iampolicy.Allow,
				Principal: iampolicy.Root("aws-cn", "123456789012"), Action: []string{"kms:*"}, Resource: []string{"*"}}),
			`{"Version":"2012-10-17","Statement":[{"Sid":"R","Effect":"Allow",` +
				`"Principal":{"AWS":["arn:aws-cn:iam::123456789012:root"]},"Action":["kms:*"],"Resource":["*"]}]}`,
		},
		{
			"characters of keys in S3", iampolicy.New(iampolicy.Statement{Sid: "K", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"},
				Resource: []string{`arn:aws:s3:::b/a<b>&é\*`}}),
			`{"Version":"2012-10-17","Statement":[{"Sid":"K","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/a<b>&é\\*"]}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.d.JSON()
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, len([]rune(c.want)), c.d.Size(), "none of them has white space")
		})
	}
}
