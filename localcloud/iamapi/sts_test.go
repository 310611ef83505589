package iamapi_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/iamapi"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

// metadataOf serves the metadata of an instance whose role has a key.
func metadataOf(t *testing.T, key s3.Key) string {
	t.Helper()
	const credentials = "/latest/meta-data/iam/security-credentials/"
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		fmt.Fprint(w, "token")
	})
	mux.HandleFunc("GET "+credentials+"{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "role") })
	mux.HandleFunc("GET "+credentials+"role", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":%q}`,
			key.ID, key.Secret, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	served := httptest.NewServer(mux)
	t.Cleanup(served.Close)
	return served.URL
}

// A pod's SDK assumes a role as its shared configuration says, and has that role's rights and
// no others. Both policies must allow it: the role's trust and one of the asking role.
func TestRoleAssumesARole(t *testing.T) {
	g := startGateway(t)
	ctx, roles := t.Context(), g.Roles
	require.NoError(t, g.Put(ctx, "lake", "history/a", []byte("a")))
	for _, role := range []string{"node", "tools", "other"} {
		require.NoError(t, roles.Put(ctx, role))
	}
	require.NoError(t, roles.PutPolicy(ctx, "tools", "read",
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::lake/history/*"]}]}`))

	served := httptest.NewServer(&iamapi.STS{Roles: roles, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(served.Close)
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte("[default]\nrole_arn = arn:aws:iam::123456789012:role/path/tools\n"+
		"credential_source = Ec2InstanceMetadata\nregion = us-east-1\n"), 0o600))
	t.Setenv("AWS_ENDPOINT_URL_STS", served.URL)
	as := func(role string) *awss3.Client {
		key, err := roles.Key(ctx, role)
		require.NoError(t, err)
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadataOf(t, key))
		config, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithSharedConfigFiles([]string{file}))
		require.NoError(t, err)
		return awss3.NewFromConfig(config, func(o *awss3.Options) { o.BaseEndpoint, o.UsePathStyle = aws.String(g.Endpoint()), true })
	}
	get := func(c *awss3.Client) error {
		out, err := c.GetObject(ctx, &awss3.GetObjectInput{Bucket: aws.String("lake"), Key: aws.String("history/a")})
		if err == nil {
			err = out.Body.Close()
		}
		return err
	}
	const (
		trust = `{"Statement":[{"Effect":"Allow","Action":["sts:AssumeRole"],"Principal":{"AWS":["arn:aws:iam::123456789012:root"]},
			"Condition":{"ArnEquals":{"aws:PrincipalArn":["arn:aws:iam::123456789012:role/node"]}}}]}`
		grant = `{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::123456789012:role/path/tools"}}`
	)
	require.ErrorContains(t, get(as("node")), "AssumeRole", "neither allows it")
	require.NoError(t, roles.PutTrust("tools", trust))
	require.ErrorContains(t, get(as("node")), "AssumeRole", "the caller may not")
	require.NoError(t, roles.PutInline(ctx, "node", "assume", grant))
	require.NoError(t, roles.PutInline(ctx, "other", "assume", grant))
	require.ErrorContains(t, get(as("other")), "AssumeRole", "the role does not trust it")
	allowed := as("node")
	require.NoError(t, get(allowed))
	_, err := allowed.PutObject(ctx, &awss3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String("history/b")})
	require.ErrorContains(t, err, "AccessDenied", "of the role that it has assumed")
	require.NoError(t, roles.DeleteInline(ctx, "node", "assume"))
	require.ErrorContains(t, get(as("node")), "AssumeRole", "the policy is gone")

	unsigned, err := http.PostForm(served.URL, map[string][]string{"Action": {"AssumeRole"}})
	require.NoError(t, err)
	defer unsigned.Body.Close()
	require.Equal(t, http.StatusForbidden, unsigned.StatusCode)
}
