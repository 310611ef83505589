package ec2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Attach attaches a volume to a running instance, as the device that Amazon
// Linux's udev rules name. A volume of type gp3 has one instance at a time (EBS User
// Guide, "Attach an Amazon EBS volume to an Amazon EC2 instance").
func (s *Service) Attach(ctx context.Context, volume, instanceID string) error {
	m, ok := s.Region.Machine(instanceID)
	if !ok {
		return fmt.Errorf("attach volume %s: instance %s does not run", volume, instanceID)
	}
	if other := s.attachments()[volume]; other != "" && other != instanceID {
		return fmt.Errorf("attach volume %s: VolumeInUse: instance %s has it; detach it there first", volume, other)
	}
	err := os.MkdirAll(s.volumeDir(volume), 0o755)
	if err == nil {
		err = linkDevice(ctx, m, volume)
	}
	if err != nil {
		return fmt.Errorf("attach volume %s to instance %s: %w", volume, instanceID, err)
	}
	return s.update(func(st *state) { st.Attachments[volume] = instanceID })
}

// Detach detaches a volume from its instance, if it has one. EC2 never finishes
// detaching a volume that a running instance has mounted (EBS User Guide, "Detach an
// Amazon EBS volume"), so that is refused.
func (s *Service) Detach(ctx context.Context, volume string) error {
	m, runs := s.Region.Machine(s.attachments()[volume])
	if runs {
		if point := s.mountPoint(m.Root, volume); point != "" {
			return fmt.Errorf("detach volume %s: instance %s runs and has it mounted at %s; stop the instance first", volume, m.Name, point)
		}
		if err := m.Must(ctx, machine.Exec{Argv: []string{"rm", "-f", platform.EBSDevice(volume)}}); err != nil {
			return fmt.Errorf("detach volume %s: %w", volume, err)
		}
	}
	return s.update(func(st *state) { delete(st.Attachments, volume) })
}

// Attached reports whether an instance exists and has a volume.
func (s *Service) Attached(volume, instanceID string) bool {
	return s.attachments()[volume] == instanceID && s.Exists(instanceID)
}

func (s *Service) attachments() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.state.Attachments)
}

// linkDevice links a volume's device to its folder; /dev is empty after every boot.
func linkDevice(ctx context.Context, m *region.Machine, volume string) error {
	const script = `mkdir -p "${1%/*}"; ln -sfn "$0" "$1"`
	argv := []string{"bash", "-ec", script, volumesMount + "/" + volume, platform.EBSDevice(volume)}
	return m.Must(ctx, machine.Exec{Argv: argv})
}

// DeleteVolume deletes a volume's content. EC2 refuses it for a volume that is
// attached.
func (s *Service) DeleteVolume(volume string) error {
	if volume == "" || strings.ContainsAny(volume, "/.") {
		return fmt.Errorf("delete volume %q: not a volume id", volume)
	}
	if instance := s.attachments()[volume]; instance != "" {
		return fmt.Errorf("delete volume %s: VolumeInUse: instance %s has it; detach it first", volume, instance)
	}
	if err := os.RemoveAll(s.volumeDir(volume)); err != nil {
		return fmt.Errorf("delete volume %s: %w", volume, err)
	}
	return nil
}

// VolumePath returns the folder, in the local cloud's state, of a path on the only
// instance that is on one of its volumes. It is an error if none is mounted there:
// what is written would be lost with the instance.
func (s *Service) VolumePath(path string) (string, error) {
	m, _, err := s.Control()
	if err != nil {
		return "", err
	}
	for volume, instance := range s.attachments() {
		point := s.mountPoint(m.Root, volume)
		if instance != m.Name || point == "" {
			continue
		}
		if rel, err := filepath.Rel(point, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(s.volumeDir(volume), "fs", rel), nil
		}
	}
	return "", fmt.Errorf("find %s on instance %s: no volume is mounted there; see its /var/log/cloud-init-output.log", path, m.Name)
}

func (s *Service) volumesDir() string             { return filepath.Join(s.Dir, "volumes") }
func (s *Service) volumeDir(volume string) string { return filepath.Join(s.volumesDir(), volume) }

// mountPoint returns where the fstab of an instance mounts a volume; "" for nowhere.
func (s *Service) mountPoint(root, volume string) string {
	uuid, err := os.ReadFile(filepath.Join(s.volumeDir(volume), "uuid"))
	if err != nil { // it has no file system
		return ""
	}
	return fstab(root)["UUID="+strings.TrimSpace(string(uuid))]
}

// fstab returns where an instance mounts file systems by UUID: UUID=… to mount point.
func fstab(root string) map[string]string {
	points := map[string]string{}
	raw, err := os.ReadFile(filepath.Join(root, "etc/fstab"))
	if err != nil {
		return points
	}
	for _, l := range strings.Split(string(raw), "\n") {
		if f := strings.Fields(l); len(f) > 1 && strings.HasPrefix(f[0], "UUID=") {
			points[f[0]] = f[1]
		}
	}
	return points
}

// reattach gives a rebooted instance its volumes and their mounts.
func (s *Service) reattach(ctx context.Context, m *region.Machine) error {
	var errs []error
	for volume, instance := range s.attachments() {
		if instance == m.Name {
			errs = append(errs, linkDevice(ctx, m, volume))
		}
	}
	for _, point := range fstab(m.Root) {
		errs = append(errs, m.Must(ctx, machine.Exec{Argv: []string{"mount", point}}))
	}
	return errors.Join(errs...)
}
