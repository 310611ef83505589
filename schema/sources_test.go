package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

func TestSourcesOfTheControlNode(t *testing.T) {
	for path, c := range map[string]struct {
		set     func(*schema.ControlNode, string)
		in, out []string
	}{
		"controlNode.registryMirror: ": {
			func(n *schema.ControlNode, v string) { n.RegistryMirror = v },
			[]string{"", "mirror.example.com", "mirror:8443", "10.0.0.9"},
			[]string{"https://mirror", "mirror/path", "mirror:", "mirror:0", "hunter2@mirror", "mirror example"},
		},
		"controlNode.k3sUrl: ": {
			func(n *schema.ControlNode, v string) { n.K3sURL = v },
			[]string{"", "https://mirror/k3s", "https://mirror.example.com:8443/a/b"},
			[]string{"http://mirror/k3s", "https://mirror/k3s/", "https://u:hunter2@mirror/k3s", "https://mirror/k3s?x=hunter2",
				"mirror/k3s", "https:///k3s"},
		},
		"controlNode.grafanaPluginUrl: ": {
			func(n *schema.ControlNode, v string) { n.GrafanaPluginURL = v },
			[]string{"", "https://mirror/a.zip"},
			[]string{"https://mirror/a", "http://mirror/a.zip", "https://mirror/a,b.zip", "https://mirror/@1.zip"},
		},
	} {
		for _, v := range c.in {
			config := validConfig()
			c.set(&config.ControlNode, v)
			require.NoError(t, config.Validate())
		}
		for _, v := range c.out {
			config := validConfig()
			c.set(&config.ControlNode, v)
			err := config.Validate()
			require.ErrorContains(t, err, path, v)
			require.NotContains(t, err.Error(), "hunter2")
		}
	}
}
