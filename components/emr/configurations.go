package emr

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/observe"
)

// ConfigurationsJSON renders the cluster's configuration list: the same
// arguments give the same bytes. It is "" if there is nothing to configure.
func (a *Args) ConfigurationsJSON() (string, error) {
	list := observe.ConfigurationsOf(a.Cluster, a.SamplingRatio)
	if len(list) == 0 {
		return "", nil
	}
	text, err := observe.Render(list)
	if err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return text, nil
}
