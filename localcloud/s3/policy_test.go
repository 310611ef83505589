package s3

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyStatementsAboutS3AreKept(t *testing.T) {
	for name, c := range map[string]struct{ policy, want string }{
		"a list": {
			`{"Version":"2012-10-17","Statement":[{"Sid":"A","Effect":"Allow","Action":["kms:Decrypt"],"Resource":"*"},` +
				`{"Sid":"B","Effect":"Allow","Action":["kms:Decrypt","s3:GetObject"],"Resource":"*"}]}`,
			`{"Version":"2012-10-17","Statement":[{"Action":["kms:Decrypt","s3:GetObject"],"Effect":"Allow","Resource":"*"}]}`,
		},
		"one statement, one action": {
			`{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"S3:*","Resource":"*"}}`,
			`{"Version":"2012-10-17","Statement":[{"Action":"S3:*","Effect":"Deny","Resource":"*"}]}`,
		},
		"every action":  {`{"Version":"v","Statement":{"Action":"*"}}`, `{"Version":"v","Statement":[{"Action":"*"}]}`},
		"all but some":  {`{"Version":"v","Statement":{"NotAction":"iam:*"}}`, `{"Version":"v","Statement":[{"NotAction":"iam:*"}]}`},
		"nothing of S3": {`{"Version":"v","Statement":[{"Action":"s3-outposts:*"}]}`, ""},
	} {
		got, err := s3Statements(c.policy)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	_, err := s3Statements("[")
	require.ErrorContains(t, err, "read the policy")
	_, err = s3Statements(`{"Statement":1}`)
	require.Error(t, err)
}
