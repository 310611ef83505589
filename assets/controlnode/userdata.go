package controlnode

import (
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// MaxUserData is EC2's limit of user data in bytes, before base64 (EC2 User
// Guide, "Run commands when you launch an EC2 instance").
const MaxUserData = 16 * 1024

//go:embed boot.sh
var bootScript string

//go:embed k3s.service
var k3sUnit string

//go:embed boot.service
var bootUnit string

//go:embed kubelet.conf
var kubeletSysctls string

// CAFiles returns the certificate authorities that K3s uses instead of creating its
// own, if all of them are in platform.ControlTLSDir before its first start
// (k3s-io/k3s contrib/util/generate-custom-ca-certs.sh; with the SQLite datastore
// etcd's authorities are not used).
func CAFiles() []string {
	return []string{
		"server-ca.crt", "server-ca.key",
		"client-ca.crt", "client-ca.key",
		"request-header-ca.crt", "request-header-ca.key",
	}
}

// Input is what a control node's user data depends on.
type Input struct {
	Region          string // of the SSM parameters
	Arch            string // platform.ArchAMD64 or platform.ArchARM64
	PrivateIP       string // IPv4 of the network interface; the API's certificate names it
	PublicIP        string // "" = none; else an IPv4 address, which the API's certificate names too
	VolumeID        string // vol-…, the data volume
	ParameterPrefix string // SSM path ending in a slash; <prefix><file of CAFiles>
	RegistryMirror  string // host of all images, as schema has checked it; "" = each has its own registry
	K3sURL          string // copy of platform.K3sReleases, likewise; "" = that itself
}

var (
	volumeID      = regexp.MustCompile(`^vol-[0-9a-z]{8,}$`)
	parameterPath = regexp.MustCompile(`^(/[A-Za-z0-9_.-]+)+/$`)
)

// Validate reports every violation.
func (in Input) Validate() error {
	var errs []error
	violation := func(field, value, rule string) {
		errs = append(errs, fmt.Errorf("%s: %q: %s", field, value, rule))
	}
	if !platform.IsRegion(in.Region) {
		violation("region", in.Region, "must be an AWS region such as us-east-1")
	}
	if _, ok := platform.K3sBinaries()[in.Arch]; !ok {
		violation("arch", in.Arch, "must be "+platform.ArchAMD64+" or "+platform.ArchARM64)
	}
	if ip, err := netip.ParseAddr(in.PrivateIP); err != nil || !ip.Is4() {
		violation("privateIp", in.PrivateIP, "must be an IPv4 address")
	}
	if ip, err := netip.ParseAddr(in.PublicIP); in.PublicIP != "" && (err != nil || !ip.Is4()) {
		violation("publicIp", in.PublicIP, "must be an IPv4 address or empty")
	}
	if !volumeID.MatchString(in.VolumeID) {
		violation("volumeId", in.VolumeID, "must be an EBS volume id (vol-…)")
	}
	if !parameterPath.MatchString(in.ParameterPrefix) {
		violation("parameterPrefix", in.ParameterPrefix, "must be an SSM path that begins and ends with a slash")
	}
	return errors.Join(errs...)
}

// UserData renders the node's #cloud-config: the files, and the one command
// that runs the boot script. It uses the modules write_files and runcmd only.
//
// cloud-init runs the command at an instance's first boot only. If the script fails,
// because the volume is attached late or a download is refused, a unit runs it again until
// it succeeds: a node that stayed as it is would have to be replaced by hand. The role may
// read the keys of the authorities for an hour only (components/controlnode).
func UserData(in Input) ([]byte, error) { return userDataAt("", in) }

// userDataAt renders user data for a machine whose / is root; tests boot in a
// folder.
func userDataAt(root string, in Input) ([]byte, error) {
	if err := in.Validate(); err != nil {
		return nil, fmt.Errorf("render user data: %w", err)
	}
	l := layout{root: root}
	files, err := l.files(in)
	if err != nil {
		return nil, fmt.Errorf("render user data: %w", err)
	}
	body, err := yaml.Marshal(cloudConfig{
		WriteFiles: files,
		RunCmd: [][]string{{"bash", "-c", bootCommand, l.at(platform.ControlBootScript), l.at(platform.ControlBootFacts),
			platform.ControlBootUnit}},
	})
	if err != nil {
		return nil, fmt.Errorf("render user data: %w", err)
	}
	out := append([]byte("#cloud-config\n"), body...)
	if len(out) > MaxUserData {
		return nil, fmt.Errorf("render user data: %d bytes: EC2 takes at most %d; move content into an object of the artifacts prefix",
			len(out), MaxUserData)
	}
	return out, nil
}

// bootCommand runs the script $0 with the facts $1, and where it fails enables the unit $2.
const bootCommand = `bash "$0" "$1" || { systemctl enable --now --no-block "$2"; exit 1; }`

type cloudConfig struct {
	WriteFiles []writeFile `json:"write_files"`
	RunCmd     [][]string  `json:"runcmd"`
}

type writeFile struct {
	Path        string `json:"path"`
	Permissions string `json:"permissions"`
	Content     string `json:"content"`
}

// layout renders files for a node whose / is root.
type layout struct{ root string }

// at returns the path under which an absolute path of the node is found.
func (l layout) at(p string) string { return l.root + p }

// files returns the files that cloud-init writes on the control node.
func (l layout) files(in Input) ([]writeFile, error) {
	config, err := l.k3sConfig(in)
	if err != nil {
		return nil, err
	}
	k3s, err := l.unit("k3s.service", k3sUnit)
	if err != nil {
		return nil, err
	}
	boot, err := l.unit("boot.service", bootUnit)
	if err != nil {
		return nil, err
	}
	files := []writeFile{
		{l.at(platform.ControlBootScript), "0755", bootScript},
		{l.at(platform.ControlBootFacts), "0644", l.facts(in)},
		{l.at(platform.ControlK3sConfig), "0600", config},
		{l.at(platform.NodeUnitDir + "/" + platform.ControlK3sUnit), "0644", k3s},
		{l.at(platform.NodeUnitDir + "/" + platform.ControlBootUnit), "0644", boot},
		{l.at("/etc/sysctl.d/90-kubelet.conf"), "0644", kubeletSysctls},
	}
	if in.RegistryMirror != "" {
		mirrors, err := registries(in.RegistryMirror)
		if err != nil {
			return nil, err
		}
		files = append(files, writeFile{l.at(platform.ControlRegistries), "0644", mirrors})
	}
	return files, nil
}

// registries returns K3s's registries.yaml (docs.k3s.io, "Private Registry
// Configuration"): one host has the images of every registry, each below the registry's
// name, since two registries may have a repository of the same name.
func registries(mirror string) (string, error) {
	type registry struct {
		Endpoint []string          `json:"endpoint"`
		Rewrite  map[string]string `json:"rewrite"`
	}
	mirrors := map[string]registry{}
	for _, name := range platform.Registries() {
		mirrors[name] = registry{[]string{"https://" + mirror}, map[string]string{"^(.*)$": name + "/$1"}}
	}
	b, err := yaml.Marshal(map[string]any{"mirrors": mirrors})
	if err != nil {
		return "", fmt.Errorf("render K3s registries: %w", err)
	}
	return string(b), nil
}

// unit renders a systemd unit.
func (l layout) unit(name, text string) (string, error) {
	t, err := template.New(name).Parse(text)
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", name, err)
	}
	var unit strings.Builder
	err = t.Execute(&unit, struct{ DataDir, K3sBinary, BootScript, BootFacts, BootUnit string }{
		l.at(platform.ControlDataDir), l.at(platform.ControlK3sBinary),
		l.at(platform.ControlBootScript), l.at(platform.ControlBootFacts), platform.ControlBootUnit,
	})
	if err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return unit.String(), nil
}

// k3sConfig returns K3s's config.yaml; keys are its command-line flags
// (docs.k3s.io, "k3s server").
func (l layout) k3sConfig(in Input) (string, error) {
	config := map[string]any{
		"data-dir":                   l.at(platform.ControlK3sDir),
		"default-local-storage-path": l.at(platform.ControlVolumesDir),
		"disable":                    []string{"traefik", "servicelb"},
		// imagefs is the data volume. K3s' default for both is 5 %.
		"kubelet-arg": []string{
			fmt.Sprintf("eviction-hard=imagefs.available<%dGi,nodefs.available<5%%", platform.EvictionGiB),
			"eviction-minimum-reclaim=imagefs.available=256Mi,nodefs.available=10%",
			// At the default of 85 % the kubelet deletes unused images in vain and reports
			// FreeDiskSpaceFailed (k3s-io/k3s#6290), since the stores fill the same volume up
			// to their reserve, platform.StoreReserveGiB. A share of a volume that may grow
			// cannot say that; 100 switches this off. The eviction above, which is absolute
			// and below the reserve, deletes unused images before it ends a pod
			// (kubernetes/kubernetes pkg/kubelet/kubelet.go, StartGarbageCollection;
			// pkg/kubelet/eviction/helpers.go, buildSignalToNodeReclaimFuncs).
			"image-gc-high-threshold=100",
		},
		"node-ip":                 in.PrivateIP,
		"node-name":               platform.ControlNodeName,
		"protect-kernel-defaults": true,
		"secrets-encryption":      true,
		"service-node-port-range": fmt.Sprintf("%d-%d", platform.ControlNodePortFirst, platform.ControlNodePortLast),
		"tls-san":                 in.certificateNames(),
		"write-kubeconfig-mode":   "0600",
	}
	if in.RegistryMirror != "" {
		// Otherwise an image that the mirror lacks is looked for where no route leads.
		config["disable-default-registry-endpoint"] = true
	}
	b, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("render K3s configuration: %w", err)
	}
	return string(b), nil
}

// certificateNames are the names of the API's certificate, beside those that K3s
// adds. The loopback address is that of a tunnel's end: it is always among them, so
// that a tunnel needs no other instance.
func (in Input) certificateNames() []string {
	names := []string{in.PrivateIP, platform.Loopback}
	if in.PublicIP != "" {
		names = append(names, in.PublicIP)
	}
	return names
}

// facts is the shell file that boot.sh reads.
func (l layout) facts(in Input) string {
	binary := platform.K3sBinaries()[in.Arch]
	var b strings.Builder
	for _, f := range []struct{ key, value string }{
		{"REGION", in.Region},
		{"DEVICE", l.at(platform.EBSDevice(in.VolumeID))},
		{"FSTAB", l.at("/etc/fstab")},
		{"DATA_DIR", l.at(platform.ControlDataDir)},
		{"K3S_DIR", l.at(platform.ControlK3sDir)},
		{"TLS_DIR", l.at(platform.ControlTLSDir)},
		{"IDENTITY_DIR", l.at(platform.ControlIdentityDir)},
		{"NODE_DIR", l.at(platform.ControlNodeDir)},
		{"DONE_FILE", l.at(platform.ControlBootDone)},
		{"PARAMETER_PREFIX", in.ParameterPrefix},
		{"CA_FILES", strings.Join(CAFiles(), " ")},
		{"K3S_VERSION", platform.K3sVersion},
		{"K3S_UNIT", platform.ControlK3sUnit},
		{"K3S_BINARY", l.at(platform.ControlK3sBinary)},
		{"K3S_URL", platform.K3sRelease(in.K3sURL) + binary.File},
		{"K3S_SHA256", binary.SHA256},
	} {
		fmt.Fprintf(&b, "%s=%s\n", f.key, quote(f.value))
	}
	return b.String()
}

// quote makes value a single word of shell.
func quote(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }
