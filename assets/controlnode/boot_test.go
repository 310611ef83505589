package controlnode_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/platform"
)

// coreutils are the only real programs on the machine's PATH; whatever else
// boot.sh calls must be one of the fakes in testdata/bin.
var coreutils = []string{"bash", "cat", "chmod", "cp", "dirname", "install", "ln", "mkdir", "mv", "sha256sum", "test", "touch"}

// machine is a fake control node in a folder.
type machine struct {
	t     *testing.T
	root  string // the node's /
	world string // state of the fakes: the volume, SSM, the release, and the log of calls
	path  string // PATH
}

// release is the content of the fake K3s release files.
const release = "#!/bin/sh\necho k3s\n"

func newMachine(t *testing.T) machine {
	t.Helper()
	dir := t.TempDir()
	m := machine{t: t, root: filepath.Join(dir, "root"), world: filepath.Join(dir, "world"), path: filepath.Join(dir, "bin")}
	for _, d := range []string{m.root + "/etc", m.world + "/ssm", m.world + "/files", m.path} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	require.NoError(t, os.WriteFile(m.root+"/etc/fstab", []byte("UUID=1 / xfs defaults 0 1\n"), 0o644))
	m.attachVolume()
	for _, f := range controlnode.CAFiles() {
		m.put("ssm/"+f, "-----BEGIN "+f+"-----\nAAAA\n-----END "+f+"-----\n")
	}
	m.put("files/k3s-arm64", release)

	for _, name := range coreutils {
		program, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(program, filepath.Join(m.path, name)))
	}
	fakes, err := filepath.Abs("testdata/bin")
	require.NoError(t, err)
	entries, err := os.ReadDir(fakes)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		require.NoError(t, os.Symlink(filepath.Join(fakes, e.Name()), filepath.Join(m.path, e.Name())))
	}
	return m
}

// put writes a file of the fakes.
func (m machine) put(name, content string) {
	require.NoError(m.t, os.WriteFile(filepath.Join(m.world, name), []byte(content), 0o644))
}

// attachVolume creates the data volume's device file.
func (m machine) attachVolume() {
	device := m.root + platform.EBSDevice(realisticInput().VolumeID)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(device), 0o755))
	require.NoError(m.t, os.WriteFile(device, nil, 0o600))
}

// replaceInstance gives the node a new root disk; the data volume stays.
func (m machine) replaceInstance() {
	volume := filepath.Join(m.world, "volume")
	require.NoError(m.t, os.Rename(m.root+platform.ControlDataDir, volume))
	require.NoError(m.t, os.RemoveAll(m.root))
	require.NoError(m.t, os.RemoveAll(filepath.Join(m.world, "mounted")))
	require.NoError(m.t, os.MkdirAll(m.root+"/etc", 0o755))
	require.NoError(m.t, os.WriteFile(m.root+"/etc/fstab", nil, 0o644))
	require.NoError(m.t, os.Rename(volume, m.root+platform.ControlDataDir))
	m.attachVolume()
}

// boot does what cloud-init does with the user data. It replaces the pinned
// checksums in the facts by those of the fake release.
func (m machine) boot(in controlnode.Input) (output string, err error) {
	raw, err := controlnode.UserDataAt(m.root, in)
	require.NoError(m.t, err)
	c := parse(m.t, raw)
	for _, f := range c.WriteFiles {
		require.NoError(m.t, os.MkdirAll(filepath.Dir(f.Path), 0o755))
		require.NoError(m.t, os.WriteFile(f.Path, []byte(f.Content), 0o600))
	}
	sum := sha256.Sum256([]byte(release))
	facts, err := os.OpenFile(m.at(platform.ControlBootFacts), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(m.t, err)
	_, err = facts.WriteString("K3S_SHA256=" + hex.EncodeToString(sum[:]) + "\n")
	require.NoError(m.t, err)
	require.NoError(m.t, facts.Close())

	require.Len(m.t, c.RunCmd, 1)
	return m.execute(c.RunCmd[0])
}

// execute runs a command of the node among the fakes.
func (m machine) execute(argv []string) (output string, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + m.path, "WORLD=" + m.world, "FSTAB_OF_NODE=" + m.root + "/etc/fstab",
		"TLS_OF_NODE=" + m.at(platform.ControlTLSDir)}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// at returns a path of the node on this machine.
func (m machine) at(path string) string { return m.root + path }

// calls returns the log of the fakes' calls.
func (m machine) calls() string {
	b, err := os.ReadFile(filepath.Join(m.world, "calls"))
	require.NoError(m.t, err)
	return string(b)
}

// tree returns every file of the node with its mode and content.
func (m machine) tree() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			out[path] += " " + string(b)
			return err
		}
		return nil
	})
	require.NoError(m.t, err)
	return out
}

// requireCAFiles requires the CA files of SSM on the node.
func (m machine) requireCAFiles() {
	m.t.Helper()
	for _, f := range controlnode.CAFiles() {
		want, err := os.ReadFile(filepath.Join(m.world, "ssm", f))
		require.NoError(m.t, err)
		got, err := os.ReadFile(m.at(platform.ControlTLSDir + "/" + f))
		require.NoError(m.t, err)
		require.Equal(m.t, string(want), string(got))
		info, err := os.Stat(m.at(platform.ControlTLSDir + "/" + f))
		require.NoError(m.t, err)
		require.Equal(m.t, fs.FileMode(0o600), info.Mode().Perm(), f)
	}
}

func TestBootBlankNode(t *testing.T) {
	m := newMachine(t)
	out, err := m.boot(realisticInput())
	require.NoError(t, err, out)

	m.requireCAFiles()
	fstab, err := os.ReadFile(m.root + "/etc/fstab")
	require.NoError(t, err)
	require.Equal(t, "UUID=1 / xfs defaults 0 1\nUUID=made-by-mkfs "+m.at(platform.ControlDataDir)+" xfs defaults,nofail,"+
		"x-systemd.growfs 0 2\n", string(fstab))
	info, err := os.Stat(m.at(platform.ControlK3sBinary))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
	link, err := os.Readlink(m.at(platform.ControlNodeDir))
	require.NoError(t, err)
	require.Equal(t, m.at(platform.ControlIdentityDir), link)
	require.FileExists(t, m.at(platform.ControlBootDone))

	calls := m.calls()
	require.Equal(t, 1, strings.Count(calls, "mkfs.xfs"))
	require.Contains(t, calls, "systemctl enable --now "+platform.ControlK3sUnit+" with 6 authorities\n")
	require.NotContains(t, out, "AAAA", "values of parameters must not be logged")
}

func TestBootIsIdempotent(t *testing.T) {
	m := newMachine(t)
	out, err := m.boot(realisticInput())
	require.NoError(t, err, out)
	before := m.tree()
	require.Greater(t, len(before), len(controlnode.CAFiles()))

	out, err = m.boot(realisticInput())
	require.NoError(t, err, out)
	require.Equal(t, before, m.tree())
	require.Equal(t, 1, strings.Count(m.calls(), "mkfs.xfs"))
	require.Equal(t, 1, strings.Count(m.calls(), "curl "), "the binary, once")
}

func TestReplacedInstanceReusesVolume(t *testing.T) {
	m := newMachine(t)
	out, err := m.boot(realisticInput())
	require.NoError(t, err, out)
	datastore := m.at(platform.ControlK3sDir + "/server/db/state.db")
	require.NoError(t, os.MkdirAll(filepath.Dir(datastore), 0o755))
	require.NoError(t, os.WriteFile(datastore, []byte("rows"), 0o600))
	m.replaceInstance()

	out, err = m.boot(realisticInput())
	require.NoError(t, err, out)
	require.FileExists(t, datastore)
	require.FileExists(t, m.at(platform.ControlK3sBinary))
	require.Equal(t, 1, strings.Count(m.calls(), "mkfs.xfs"))
	require.NotContains(t, out, "installed "+m.at(platform.ControlTLSDir))
	m.requireCAFiles()
}

func TestBootRestoresMissingCAFiles(t *testing.T) {
	m := newMachine(t)
	kept := m.at(platform.ControlTLSDir + "/server-ca.key")
	require.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o700))
	want, err := os.ReadFile(filepath.Join(m.world, "ssm/server-ca.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(kept, want, 0o600))

	out, err := m.boot(realisticInput())
	require.NoError(t, err, out)
	require.NotContains(t, out, "installed "+kept+"\n")
	m.requireCAFiles()
}

// TestBootFailures injects one fault per case, which must fail the boot with a
// reason before K3s starts.
func TestBootFailures(t *testing.T) {
	foreign := platform.ControlTLSDir + "/client-ca.key"
	for name, c := range map[string]struct {
		inject func(machine)
		reason string
		check  func(machine)
	}{
		"a key is not in SSM": {
			inject: func(m machine) { require.NoError(m.t, os.Remove(m.world+"/ssm/client-ca.key")) },
			reason: "no PEM in SSM parameter " + realisticInput().ParameterPrefix + "client-ca.key",
			check:  func(m machine) { require.NoDirExists(m.t, m.at(platform.ControlTLSDir)) },
		},
		"a parameter is empty": {
			inject: func(m machine) { m.put("ssm/server-ca.crt", "\n") },
			reason: "no PEM in SSM parameter " + realisticInput().ParameterPrefix + "server-ca.crt",
			check:  func(m machine) { require.NoDirExists(m.t, m.at(platform.ControlTLSDir)) },
		},
		"another CA is on the volume": {
			inject: func(m machine) {
				require.NoError(m.t, os.MkdirAll(filepath.Dir(m.at(foreign)), 0o700))
				require.NoError(m.t, os.WriteFile(m.at(foreign), []byte("another\n"), 0o600))
			},
			reason: "client-ca.key differ from the stack's authorities",
			check: func(m machine) {
				b, err := os.ReadFile(m.at(foreign))
				require.NoError(m.t, err)
				require.Equal(m.t, "another\n", string(b))
			},
		},
		"the binary is not the pinned one": {
			inject: func(m machine) { m.put("files/k3s-arm64", "tampered") },
			reason: "no file of sha256",
			check:  func(m machine) { require.NoFileExists(m.t, m.at(platform.ControlK3sBinary)) },
		},
		"the volume cannot be read": {
			inject: func(m machine) { m.put("blkid-status", "8") },
			reason: "blkid cannot tell",
			check:  func(m machine) { require.NotContains(m.t, m.calls(), "mkfs.xfs") },
		},
		"the volume is partitioned": {
			inject: func(m machine) { m.put("uuid", "") },
			reason: "something other than a file system",
			check:  func(m machine) { require.NotContains(m.t, m.calls(), "mkfs.xfs") },
		},
		"the volume is not attached": {
			inject: func(m machine) {
				require.NoError(m.t, os.Remove(m.root+platform.EBSDevice(realisticInput().VolumeID)))
			},
			reason: "did not appear",
			check:  func(m machine) { require.Contains(m.t, m.calls(), "sleep 15\n") },
		},
		"the volume cannot be mounted": {
			inject: func(m machine) { m.put("mount-fails", "") },
			reason: "FAILED in data_volume: mount",
			check:  func(m machine) { require.NotContains(m.t, m.calls(), "aws ssm") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			c.inject(m)
			out, err := m.boot(realisticInput())
			require.Error(t, err, out)
			require.Contains(t, out, c.reason)
			require.NotContains(t, m.calls(), "systemctl enable --now "+platform.ControlK3sUnit)
			require.Contains(t, m.calls(), "systemctl enable --now --no-block "+platform.ControlBootUnit)
			require.Equal(t, 1, strings.Count(m.calls(), "systemctl enable"))
			require.NoFileExists(t, m.at(platform.ControlBootDone))
			c.check(m)
		})
	}
}

// A volume may be attached long after the instance was created, for instance by the
// update after one that was interrupted. cloud-init does not run the script again.
func TestFailedBootSucceedsLater(t *testing.T) {
	m := newMachine(t)
	device := m.root + platform.EBSDevice(realisticInput().VolumeID)
	require.NoError(t, os.Remove(device))
	out, err := m.boot(realisticInput())
	require.Error(t, err, out)

	m.attachVolume()
	unit, err := os.ReadFile(m.at("/etc/systemd/system/" + platform.ControlBootUnit))
	require.NoError(t, err)
	_, start, _ := strings.Cut(string(unit), "\nExecStart=")
	start, _, _ = strings.Cut(start, "\n")
	out, err = m.execute(strings.Fields(start))
	require.NoError(t, err, out)
	require.FileExists(t, m.at(platform.ControlBootDone))
	require.Contains(t, m.calls(), "systemctl enable --now "+platform.ControlK3sUnit)
}
