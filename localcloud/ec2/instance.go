package ec2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Launch describes an instance to run.
type Launch struct {
	ID, Type    string
	InterfaceID string
	Profile     string // instance profile, "" for none
	UserData    string // "#cloud-config"
}

// Run boots an instance on its network interface. Its user data runs in the
// background, as under cloud-init. AwaitUserData, Log and the instance's
// /var/log/cloud-init-output.log report the outcome.
func (s *Service) Run(ctx context.Context, l Launch) error {
	if err := s.terminateLost(); err != nil {
		return err
	}
	ip, err := s.freeInterface(l.InterfaceID)
	if err != nil {
		return fmt.Errorf("networkInterfaces[0].networkInterfaceId: %q: %w", l.InterfaceID, err)
	}
	data, err := parseUserData(l.UserData)
	if err != nil {
		return fmt.Errorf("userData: %w", err)
	}
	m, err := s.boot(ctx, l, ip)
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

// terminateLost terminates the instances that are lost.
func (s *Service) terminateLost() error {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.state.Instances))
	s.mu.Unlock()
	var errs []error
	for _, id := range ids {
		if !s.Exists(id) {
			errs = append(errs, s.Terminate(id))
		}
	}
	return errors.Join(errs...)
}

// freeInterface returns an interface's address. An interface belongs to one instance
// at a time (EC2 User Guide, "Elastic network interfaces").
func (s *Service) freeInterface(id string) (address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	attached, ok := s.state.Interfaces[id]
	if !ok {
		return "", errors.New("no such interface; the local cloud boots an instance on an existing one")
	}
	for instance, spec := range s.state.Instances {
		if spec.Addresses[0] == s.withPrefix(attached.Address) {
			return "", fmt.Errorf("InvalidNetworkInterface.InUse: instance %s has it; terminate that first", instance)
		}
	}
	return attached.Address, nil
}

// withPrefix returns an address with the length of the network's prefix.
func (s *Service) withPrefix(ip string) string { return ip + "/" + strconv.Itoa(s.Prefix) }

// boot boots an instance with the machine image and adds it to the state.
func (s *Service) boot(ctx context.Context, l Launch, ip string) (*region.Machine, error) {
	spec := machine.Spec{
		Name: l.ID, Hostname: privateHostname(ip), Domain: "ec2.internal", Gateway: s.Gateway,
		Addresses: append([]string{s.withPrefix(ip)}, s.Extra...), Env: s.Env,
		Binds: []machine.Bind{
			{From: s.Applications, To: applications.Mount, ReadOnly: true},
			{From: s.volumesDir(), To: volumesMount},
		},
		Metadata: machine.Metadata{
			InstanceID: l.ID, InstanceType: l.Type, Region: s.AWSRegion, Zone: s.AWSRegion + "a", AccountID: s.AccountID,
			Profile: l.Profile,
		},
	}
	m, err := s.bootMachine(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := s.writeImage(m.Root); err != nil {
		return nil, fmt.Errorf("write the machine image: %w", err)
	}
	return m, s.update(func(st *state) { st.Instances[l.ID] = spec })
}

// bootMachine boots a machine with the credentials of its role, which the state
// does not hold.
func (s *Service) bootMachine(ctx context.Context, spec machine.Spec) (*region.Machine, error) {
	if spec.Metadata.Profile != "" {
		var err error
		if spec.Metadata.RoleCredentials, err = s.Credentials(ctx, spec.Metadata.Profile); err != nil {
			return nil, err
		}
	}
	m, err := s.Region.Boot(ctx, spec)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metadata[spec.Name] = spec.Metadata
	return m, nil
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
	m, err := s.bootMachine(ctx, spec)
	if err != nil {
		return err
	}
	errs := []error{s.reattach(ctx, m)}
	units, err := os.ReadDir(filepath.Join(m.Root, enabledUnitsDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, u := range units {
		errs = append(errs, m.StartUnit(ctx, u.Name()))
	}
	return errors.Join(errs...)
}

// Stop shuts an instance down. Its root, its interface and its volumes stay.
func (s *Service) Stop(id string) error {
	s.Region.Stop(id)
	return s.update(func(st *state) { st.Stopped[id] = true })
}

// Exists reports whether an instance runs or is stopped. One whose machine ended by
// itself is lost.
func (s *Service) Exists(id string) bool {
	m, runs := s.Region.Machine(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return runs && !m.Lost() || s.state.Stopped[id]
}

// Terminate kills an instance and deletes its root. Attached volumes are detached,
// and stay.
func (s *Service) Terminate(id string) error {
	if err := s.Region.Remove(id); err != nil {
		return fmt.Errorf("terminate instance %s: %w", id, err)
	}
	return s.update(func(st *state) {
		delete(st.Instances, id)
		delete(st.Stopped, id)
		delete(s.metadata, id)
		maps.DeleteFunc(st.Attachments, func(_, instance string) bool { return instance == id })
	})
}
