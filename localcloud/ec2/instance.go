package ec2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Launch describes an instance to be.
type Launch struct {
	ID, Type    string
	InterfaceID string
	UserData    string // "#cloud-config"; base64 where Base64 is set
	Base64      bool
}

// Run boots an instance on its network interface. Its user data runs in the
// background, as cloud-init does; Booted, Log and the instance's
// /var/log/cloud-init-output.log tell how it went.
func (s *Service) Run(ctx context.Context, l Launch) error {
	s.mu.Lock()
	ip, ok := s.state.Interfaces[l.InterfaceID]
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("networkInterfaces[0].networkInterfaceId: %q: the local cloud boots an instance on a network interface that exists", l.InterfaceID)
	}
	data, err := parseUserData(l)
	if err != nil {
		return fmt.Errorf("userData: %w", err)
	}
	spec := machine.Spec{
		Name: l.ID, Hostname: hostname(ip), Domain: "ec2.internal", Gateway: s.Gateway, OneUser: region.OneUser(),
		Addresses: append([]string{ip + "/" + strconv.Itoa(s.Prefix)}, s.Extra...), Env: s.Env,
		Binds: []machine.Bind{{From: s.Applications, To: applications.Mount, ReadOnly: true}, {From: s.volumes(), To: volumesDir}},
		Metadata: machine.Metadata{
			InstanceID: l.ID, InstanceType: l.Type, Region: s.AWSRegion, Zone: s.AWSRegion + "a", AccountID: s.AccountID,
			RoleName: "instance",
		},
	}
	m, err := s.Region.Boot(ctx, s.withKey(spec))
	if err != nil {
		return err
	}
	if err := s.image(m.Root); err != nil {
		return err
	}
	if err := s.update(func(st *state) { st.Instances[l.ID] = spec }); err != nil {
		return err
	}
	boot := &firstBoot{done: make(chan struct{})}
	s.mu.Lock()
	s.boots[l.ID] = boot
	s.mu.Unlock()
	go func() {
		defer close(boot.done)
		if boot.err = data.run(context.Background(), m); boot.err != nil {
			s.Log.Error("user data", "instance", l.ID, "error", boot.err)
		}
	}()
	return nil
}

// withKey gives a spec the role's credentials, which the state does not hold.
func (s *Service) withKey(spec machine.Spec) machine.Spec {
	spec.Metadata.AccessKeyID, spec.Metadata.SecretAccessKey = s.AccessKeyID, s.SecretKey
	return spec
}

// firstBoot is the running or ended user data of an instance.
type firstBoot struct {
	done chan struct{}
	err  error // once done is closed
}

// Booted waits until an instance's user data has ended and gives its failure.
// An instance that was booted again runs none.
func (s *Service) Booted(ctx context.Context, id string) error {
	s.mu.Lock()
	boot := s.boots[id]
	s.mu.Unlock()
	if boot == nil {
		return nil
	}
	select {
	case <-boot.done:
		return boot.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wants is where systemctl enable links a unit that is to start at boot.
const wants = "etc/systemd/system/multi-user.target.wants"

// reboot boots an instance from its disk: its volumes, the mounts of its fstab,
// then the units that are enabled. What fails does not keep back the rest.
func (s *Service) reboot(ctx context.Context, spec machine.Spec) error {
	m, err := s.Region.Boot(ctx, s.withKey(spec))
	if err != nil {
		return err
	}
	var errs []error
	for volume, instance := range s.attachments() {
		if instance == spec.Name {
			errs = append(errs, link(ctx, m, volume))
		}
	}
	for _, point := range fstab(m.Root) {
		errs = append(errs, m.Must(ctx, machine.Exec{Argv: []string{"mount", point}}))
	}
	units, err := os.ReadDir(filepath.Join(m.Root, wants))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, u := range units {
		errs = append(errs, m.StartUnit(ctx, u.Name()))
	}
	return errors.Join(errs...)
}

func fstab(root string) []string {
	raw, err := os.ReadFile(filepath.Join(root, "etc/fstab"))
	if err != nil {
		return nil
	}
	var points []string
	for _, l := range strings.Split(string(raw), "\n") {
		if f := strings.Fields(l); len(f) > 1 && strings.HasPrefix(f[0], "UUID=") {
			points = append(points, f[1])
		}
	}
	return points
}

// Terminate ends an instance; its root goes, attached volumes stay.
func (s *Service) Terminate(id string) error {
	if err := s.Region.Remove(id); err != nil {
		return err
	}
	return s.update(func(st *state) {
		delete(st.Instances, id)
		maps.DeleteFunc(st.Attachments, func(_, instance string) bool { return instance == id })
	})
}

// Attach makes a volume visible to a running instance under the name that
// Amazon Linux's udev rules give it.
func (s *Service) Attach(ctx context.Context, volume, instanceID string) error {
	m, ok := s.Region.Machine(instanceID)
	if !ok {
		return fmt.Errorf("attach volume %s: instance %s does not run", volume, instanceID)
	}
	if err := os.MkdirAll(filepath.Join(s.volumes(), volume), 0o755); err != nil {
		return err
	}
	if err := link(ctx, m, volume); err != nil {
		return err
	}
	return s.update(func(st *state) { st.Attachments[volume] = instanceID })
}

// Detach takes a volume from its instance, if it has one.
func (s *Service) Detach(volume string) error {
	return s.update(func(st *state) { delete(st.Attachments, volume) })
}

func (s *Service) attachments() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.state.Attachments)
}

// link shows a volume under the device's name; /dev is new at every boot.
func link(ctx context.Context, m *region.Machine, volume string) error {
	device := platform.EBSDevice(volume)
	return m.Must(ctx, machine.Exec{Argv: []string{"bash", "-ec", `mkdir -p "${1%/*}"; ln -sfn "$0" "$1"`, volumesDir + "/" + volume, device}})
}

// DeleteVolume deletes a volume's content.
func (s *Service) DeleteVolume(volume string) error {
	if volume == "" || strings.ContainsAny(volume, "/.") {
		return fmt.Errorf("volume id %q", volume)
	}
	return os.RemoveAll(filepath.Join(s.volumes(), volume))
}
