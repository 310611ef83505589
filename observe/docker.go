package observe

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// EMR lets each job choose Docker (EMR Management Guide, "Configure Docker for use
// with Amazon EMR clusters"). Of its node, such a container sees what YARN mounts.
// Without the launcher's folder its JVM would end at once: "Error opening zip file
// or JAR manifest missing". YARN's container-executor refuses mounts that its own
// configuration does not allow, so the folder is in two lists (Hadoop, "Launching
// Applications Using Docker Containers").
const (
	defaultMountsKey = "yarn.nodemanager.runtime.linux.docker.default-ro-mounts" // source:target, of every Docker container
	allowedMountsKey = "docker.allowed.ro-mounts"                                // sources
)

// shippedMounts returns what EMR ships under both keys. It is restated because naming
// a key drops EMR's own value. The values are those of an emr-6 node (November 2022);
// the class path that emr-7.1.0 ships names the same folders below /docker.
func shippedMounts() (defaults, allowed []string) {
	return []string{"/etc/passwd:/etc/passwd", "/usr/lib:/docker/usr/lib", "/usr/share:/docker/usr/share"},
		[]string{"/sys/fs/cgroup", "/etc/passwd", "/usr/lib", "/usr/share"}
}

// dockerClassifications mount the launcher's folder, read-only, into every Docker
// container of YARN, at its own path.
func dockerClassifications() []Classification {
	const folder = platform.NodeInstallDir
	defaults, allowed := shippedMounts()
	list := func(mounts []string, own string) string { return strings.Join(append(mounts, own), ",") }
	return []Classification{
		{Classification: "yarn-site", Properties: map[string]string{defaultMountsKey: list(defaults, folder+":"+folder)}},
		{Classification: "container-executor", Properties: map[string]string{}, Configurations: []Classification{
			{Classification: "docker", Properties: map[string]string{allowedMountsKey: list(allowed, folder)}},
		}},
	}
}
