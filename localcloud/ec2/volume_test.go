package ec2_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// mountScript is what a boot script does with its volume.
const mountScript = `dev=$(readlink -f /dev/disk/by-id/*)
blkid -p "$dev" >/dev/null || mkfs.xfs "$dev"
mkdir -p /data
echo "UUID=$(blkid -s UUID -o value "$dev") /data xfs defaults 0 2" > /etc/fstab
mount /data`

func TestVolumeOutlivesItsInstance(t *testing.T) {
	s := newService(t)
	withVolume := func(id string) *region.Machine {
		_, err := s.launch(id, "")
		require.NoError(t, err)
		require.NoError(t, s.Attach(t.Context(), "vol-0abc", id))
		m, _ := s.Region.Machine(id)
		require.Equal(t, "/.volumes/vol-0abc", sh(t, m, "readlink -f /dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0abc"))
		return m
	}
	first := withVolume("i-first")
	sh(t, first, mountScript+"; echo kept > /data/file; echo lost > /opt/file")
	require.NoError(t, s.Terminate("i-first"))
	require.NoDirExists(t, first.Root)
	second := withVolume("i-second")
	require.Equal(t, "kept", sh(t, second, mountScript+"; cat /data/file"))
	require.Equal(t, "gone", sh(t, second, "[ -e /opt/file ] || echo gone"))

	require.ErrorContains(t, s.DeleteVolume("../x"), "volume id")
	require.ErrorContains(t, s.DeleteVolume("vol-0abc"), "VolumeInUse: instance i-second")
	require.NoError(t, s.Terminate("i-second"))
	require.NoError(t, s.DeleteVolume("vol-0abc"))
	require.NoDirExists(t, filepath.Join(s.Dir, "volumes", "vol-0abc"))
}

// A replacement stops the old instance, detaches its volume, terminates it, and only
// then starts the new one on the same interface.
func TestVolumeAndInterfaceBelongToOneInstanceAtATime(t *testing.T) {
	s := newService(t)
	m, err := s.launch("i-old", "")
	require.NoError(t, err)
	require.NoError(t, s.Attach(t.Context(), "vol-0one", "i-old"))
	_, err = s.VolumePath("/data/volumes")
	require.ErrorContains(t, err, "find /data/volumes on instance i-old: no volume is mounted there")
	sh(t, m, mountScript+"; mkdir /data/volumes; echo kept > /data/volumes/file")
	at, err := s.VolumePath("/data/volumes")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(s.Dir, "volumes", "vol-0one", "fs", "volumes"), at)
	require.FileExists(t, filepath.Join(at, "file"))

	onTheSame := ec2.Launch{ID: "i-new", Type: "t3.large", InterfaceID: s.networkIf}
	require.ErrorContains(t, s.Run(t.Context(), onTheSame), "InvalidNetworkInterface.InUse: instance i-old")
	require.NoError(t, s.PutInterface("eni-other", ec2.Interface{Address: "10.0.1.200"}))
	require.NoError(t, s.Run(t.Context(), ec2.Launch{ID: "i-other", Type: "t3.large", InterfaceID: "eni-other"}))
	s.instances = append(s.instances, "i-other")
	require.ErrorContains(t, s.Attach(t.Context(), "vol-0one", "i-other"), "VolumeInUse: instance i-old")
	require.NoError(t, s.Terminate("i-other"))
	require.ErrorContains(t, s.Detach(t.Context(), "vol-0one"), "has it mounted at /data; stop the instance first")
	require.True(t, s.Attached("vol-0one", "i-old"))

	require.NoError(t, s.Stop("i-old"))
	require.True(t, s.Exists("i-old"))
	require.NoError(t, newServiceOn(s).Open(t.Context()))
	_, runs := s.Region.Machine("i-old")
	require.False(t, runs, "a stopped instance stays stopped when the local cloud starts again")
	require.NoError(t, s.Detach(t.Context(), "vol-0one"))
	require.False(t, s.Attached("vol-0one", "i-old"))
	require.NoError(t, s.Terminate("i-old"))
	require.False(t, s.Exists("i-old"))

	m, err = s.launch("i-new", "")
	require.NoError(t, err)
	uuid := sh(t, m, "cat /.volumes/vol-0one/uuid")
	mounts := "mkdir -p /data; echo UUID=" + uuid + " /data xfs > /etc/fstab; mount /data 2>/dev/null || echo not mounted"
	require.Equal(t, "not mounted", sh(t, m, mounts), "it is not attached yet")
	require.NoError(t, s.Attach(t.Context(), "vol-0one", "i-new"))
	require.Equal(t, "kept", sh(t, m, mountScript+"; cat /data/volumes/file"))
}

// An instance whose machine ended by itself is lost, as after a failure of its host.
func TestInstanceThatEndedIsLost(t *testing.T) {
	s := newService(t)
	m, err := s.launch("i-lost", "")
	require.NoError(t, err)
	require.NoError(t, s.Attach(t.Context(), "vol-0lost", "i-lost"))
	require.True(t, s.Exists("i-lost"))
	require.True(t, s.Attached("vol-0lost", "i-lost"))
	namespace := sh(t, m, "readlink /proc/self/ns/pid")
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	require.NoError(t, err)
	for _, link := range links {
		if found, _ := os.Readlink(link); found == namespace { // the others end with the namespace's init
			pid, err := strconv.Atoi(strings.Split(link, "/")[2])
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	testenv.Eventually(t, func() bool { return !s.Exists("i-lost") }, testTimeout, 10*time.Millisecond)
	require.False(t, s.Attached("vol-0lost", "i-lost"))
	_, err = s.launch("i-next", "")
	require.NoError(t, err, "its interface is free")
	require.NoError(t, s.Attach(t.Context(), "vol-0lost", "i-next"), "and so is its volume")
}

func TestRebootMountsFstabAndStartsEnabledUnits(t *testing.T) {
	s := newService(t)
	m, err := s.launch("i-reboot", "")
	require.NoError(t, err)
	require.NoError(t, s.Attach(t.Context(), "vol-0def", "i-reboot"))
	sh(t, m, mountScript+`; echo kept > /data/file
for u in wanted other; do printf '[Service]\nExecStart=/bin/sleep infinity\n' > /etc/systemd/system/$u.service; done
systemctl enable --now wanted; systemctl start other`)

	s.Region.Stop("i-reboot") // as in a power cut, after which the local cloud starts again
	restarted := newServiceOn(s)
	require.NoError(t, restarted.Open(t.Context()))
	m, ok := s.Region.Machine("i-reboot")
	require.True(t, ok)
	require.Equal(t, "kept", sh(t, m, "cat /data/file"))
	device := sh(t, m, "readlink -f /dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0def")
	require.Equal(t, "/.volumes/vol-0def", device, "an attached volume stays attached over a reboot")
	require.Equal(t, "active inactive", sh(t, m, "echo $(systemctl is-active wanted) $(systemctl is-active other)"))
	require.NotContains(t, s.log.String(), "reboot instance")
	_, meta, err := restarted.Control()
	require.NoError(t, err)
	require.Equal(t, "the-role's-secret", meta.SecretAccessKey)
}

// newServiceOn returns a service on the same state, as a new process would have it.
func newServiceOn(s *service) *ec2.Service {
	return &ec2.Service{
		Region: s.Region, Dir: s.Dir, Applications: s.Applications, Machined: s.Machined, AWSRegion: s.AWSRegion, AccountID: s.AccountID,
		Gateway: s.Gateway, Prefix: s.Prefix, Credentials: s.Credentials, PrepareCLI: s.PrepareCLI, Map: s.Map,
		Log: s.Log,
	}
}
