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

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Launch describes an instance to run.
type Launch struct {
	ID, Type    string
	InterfaceID string
	UserData    string // "#cloud-config"; base64 if Base64 is set
	Base64      bool
}

// Run boots an instance on its network interface. Its user data runs in the
// background, as under cloud-init. AwaitUserData, Log and the instance's
// /var/log/cloud-init-output.log report the outcome.
func (s *Service) Run(ctx context.Context, l Launch) error {
	s.mu.Lock()
	attached, ok := s.state.Interfaces[l.InterfaceID]
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("networkInterfaces[0].networkInterfaceId: %q: no such interface; "+
			"the local cloud boots an instance on an existing one", l.InterfaceID)
	}
	data, err := parseUserData(l)
	if err != nil {
		return fmt.Errorf("userData: %w", err)
	}
	m, err := s.boot(ctx, l, attached.Address)
	if err != nil {
		return fmt.Errorf("run instance %s: %w", l.ID, err)
	}
	userData := &userDataRun{done: make(chan struct{})}
	s.mu.Lock()
	s.userDataRuns[l.ID] = userData
	s.mu.Unlock()
	background := context.WithoutCancel(ctx) // user data keeps running after the API call
	go func() {
		defer close(userData.done)
		if userData.err = data.run(background, m); userData.err != nil {
			s.Log.Error("user data", "instance", l.ID, "error", userData.err)
		}
	}()
	return nil
}

// boot boots an instance with the machine image and adds it to the state.
func (s *Service) boot(ctx context.Context, l Launch, ip string) (*region.Machine, error) {
	spec := machine.Spec{
		Name: l.ID, Hostname: privateHostname(ip), Domain: "ec2.internal", Gateway: s.Gateway,
		Addresses: append([]string{ip + "/" + strconv.Itoa(s.Prefix)}, s.Extra...), Env: s.Env,
		Binds: []machine.Bind{
			{From: s.Applications, To: applications.Mount, ReadOnly: true},
			{From: s.volumesDir(), To: volumesMount},
		},
		Metadata: machine.Metadata{
			InstanceID: l.ID, InstanceType: l.Type, Region: s.AWSRegion, Zone: s.AWSRegion + "a", AccountID: s.AccountID,
			RoleName: "instance",
		},
	}
	m, err := s.Region.Boot(ctx, s.withCredentials(spec))
	if err != nil {
		return nil, err
	}
	if err := s.writeImage(m.Root); err != nil {
		return nil, fmt.Errorf("write the machine image: %w", err)
	}
	return m, s.update(func(st *state) { st.Instances[l.ID] = spec })
}

// withCredentials adds the role's credentials to a spec; the state does not hold them.
func (s *Service) withCredentials(spec machine.Spec) machine.Spec {
	spec.Metadata.AccessKeyID, spec.Metadata.SecretAccessKey = s.AccessKeyID, s.SecretKey
	return spec
}

// userDataRun is the run of an instance's user data.
type userDataRun struct {
	done chan struct{} // closed at its end
	err  error         // its failure, once done is closed
}

// AwaitUserData waits until an instance's user data has ended and returns its
// failure. A rebooted instance runs none.
func (s *Service) AwaitUserData(ctx context.Context, id string) error {
	s.mu.Lock()
	userData := s.userDataRuns[id]
	s.mu.Unlock()
	if userData == nil {
		return nil
	}
	select {
	case <-userData.done:
		return userData.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the user data of instance %s: %w", id, ctx.Err())
	}
}

// enabledUnitsDir is where systemctl enable links the units that start at boot.
const enabledUnitsDir = "etc/systemd/system/multi-user.target.wants"

// reboot boots an instance from its disk: its volumes, the mounts of its fstab,
// then its enabled units. A failure does not stop the rest.
func (s *Service) reboot(ctx context.Context, spec machine.Spec) error {
	m, err := s.Region.Boot(ctx, s.withCredentials(spec))
	if err != nil {
		return err
	}
	var errs []error
	for volume, instance := range s.attachments() {
		if instance == spec.Name {
			errs = append(errs, linkDevice(ctx, m, volume))
		}
	}
	for _, point := range volumeMountPoints(m.Root) {
		errs = append(errs, m.Must(ctx, machine.Exec{Argv: []string{"mount", point}}))
	}
	units, err := os.ReadDir(filepath.Join(m.Root, enabledUnitsDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, u := range units {
		errs = append(errs, m.StartUnit(ctx, u.Name()))
	}
	return errors.Join(errs...)
}

// volumeMountPoints lists where an instance's fstab mounts volumes.
func volumeMountPoints(root string) []string {
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

// Terminate kills an instance and deletes its root. Attached volumes stay.
func (s *Service) Terminate(id string) error {
	if err := s.Region.Remove(id); err != nil {
		return fmt.Errorf("terminate instance %s: %w", id, err)
	}
	return s.update(func(st *state) {
		delete(st.Instances, id)
		maps.DeleteFunc(st.Attachments, func(_, instance string) bool { return instance == id })
	})
}

// Attach attaches a volume to a running instance, as the device that Amazon
// Linux's udev rules name.
func (s *Service) Attach(ctx context.Context, volume, instanceID string) error {
	m, ok := s.Region.Machine(instanceID)
	if !ok {
		return fmt.Errorf("attach volume %s: instance %s does not run", volume, instanceID)
	}
	err := os.MkdirAll(filepath.Join(s.volumesDir(), volume), 0o755)
	if err == nil {
		err = linkDevice(ctx, m, volume)
	}
	if err != nil {
		return fmt.Errorf("attach volume %s to instance %s: %w", volume, instanceID, err)
	}
	return s.update(func(st *state) { st.Attachments[volume] = instanceID })
}

// Detach detaches a volume from its instance, if it has one.
func (s *Service) Detach(volume string) error {
	return s.update(func(st *state) { delete(st.Attachments, volume) })
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

// DeleteVolume deletes a volume's content.
func (s *Service) DeleteVolume(volume string) error {
	if volume == "" || strings.ContainsAny(volume, "/.") {
		return fmt.Errorf("delete volume %q: not a volume id", volume)
	}
	if err := os.RemoveAll(filepath.Join(s.volumesDir(), volume)); err != nil {
		return fmt.Errorf("delete volume %s: %w", volume, err)
	}
	return nil
}
