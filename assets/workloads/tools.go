package workloadconfig

import (
	"fmt"
	"path"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Files of the tools in ConfigDir: their options by name (docs/reference/profiler-options.md),
// and the configuration of AWS's SDK.
const (
	ToolsFile    = "tools.yaml"
	ToolsAWSFile = "aws-config"
)

// Tools configures `observatory-profiler tools`, which answers people's agents from the lake
// over HTTP. Its rights are those of a role that reads the lake only: AWS's SDK assumes the
// role with that of the instance.
func Tools(r platform.WorkloadRecord, _ Settings) (Config, error) {
	file := func(key string) string { return path.Join(accessDir, key) }
	env := goMemoryLimit(r, profilerMemoryPercent)
	env["AWS_CONFIG_FILE"] = path.Join(ConfigDir, ToolsAWSFile)
	return Config{
		Args: []string{
			"tools", "--config=" + path.Join(ConfigDir, ToolsFile), "--tools-address=" + listen(r.EndpointPort()),
			"--token-file=" + file(platform.AccessPassword),
			"--certificate-file=" + file(platform.AccessCertificate), "--key-file=" + file(platform.AccessKey),
		},
		SecretFiles: []SecretFiles{{Secret: platform.AccessSecret(r.Name), Volume: "access", Dir: accessDir, Keys: []string{
			platform.AccessCertificate, platform.AccessKey, platform.AccessPassword,
		}}},
		Env: env,
		LateFiles: map[string]LateFile{
			ToolsFile: {
				Needs: []Fact{FactRegion, FactBucket},
				Render: func(f map[Fact]string) (string, error) {
					body, err := yaml.Marshal(lakeOptions(f))
					if err != nil {
						return "", fmt.Errorf("render %s: %w", ToolsFile, err)
					}
					return string(body), nil
				},
			},
			// AWS SDKs and Tools Reference Guide, "Assume role credential provider".
			ToolsAWSFile: {
				Needs: []Fact{FactToolsRoleARN},
				Render: func(f map[Fact]string) (string, error) {
					return fmt.Sprintf("[default]\nrole_arn = %s\ncredential_source = Ec2InstanceMetadata\nrole_session_name = %s\n",
						f[FactToolsRoleARN], r.Name), nil
				},
			},
		},
	}, nil
}
