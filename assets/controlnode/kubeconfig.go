package controlnode

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Credentials connect a client to the Kubernetes API. APIServer is its URL; the other
// fields are PEM text. ClientKey and everything rendered from it are secret.
type Credentials struct {
	APIServer, ServerCA, ClientCertificate, ClientKey string
}

// Kubeconfig renders the administrator's kubeconfig, with all certificates inline.
func Kubeconfig(c Credentials) (string, error) {
	type named map[string]any
	b, err := yaml.Marshal(named{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []named{{"name": platform.Name, "cluster": named{
			"server":                     c.APIServer,
			"certificate-authority-data": []byte(c.ServerCA),
		}}},
		"users": []named{{"name": adminUser, "user": named{
			"client-certificate-data": []byte(c.ClientCertificate),
			"client-key-data":         []byte(c.ClientKey),
		}}},
		"contexts": []named{{"name": platform.Name, "context": named{
			"cluster": platform.Name, "user": adminUser, "namespace": platform.Name,
		}}},
		"current-context": platform.Name,
	})
	if err != nil {
		return "", fmt.Errorf("render kubeconfig: %w", err)
	}
	return string(b), nil
}

const adminUser = "admin"
