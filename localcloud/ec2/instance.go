package ec2

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Launch describes an instance to be.
type Launch struct {
	ID, Type    string
	InterfaceID string
	UserData    string // "#cloud-config"; base64 where Base64 is set
	Base64      bool
}

// Run boots an instance on its network interface. Its user data runs in the
// background, as cloud-init does; Log and the instance's
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
			RoleName: "instance", AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretKey,
		},
	}
	m, err := s.Region.Boot(ctx, spec)
	if err != nil {
		return err
	}
	if err := s.image(m.Root); err != nil {
		return err
	}
	if err := s.update(func(st *state) { st.Instances[l.ID] = spec }); err != nil {
		return err
	}
	go func() {
		if err := data.run(context.Background(), m); err != nil {
			s.Log.Error("user data", "instance", l.ID, "error", err)
		}
	}()
	return nil
}

func (s *Service) reboot(ctx context.Context, spec machine.Spec) error {
	m, err := s.Region.Boot(ctx, spec)
	if err != nil {
		return err
	}
	for _, line := range fstab(m.Root) { // mounts of fstab, then enabled units
		if err := m.Must(ctx, machine.Exec{Argv: []string{"mount", line}}); err != nil {
			return err
		}
	}
	return m.StartUnit(ctx, "k3s.service")
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
	return s.update(func(st *state) { delete(st.Instances, id) })
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
	link := "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.ReplaceAll(volume, "-", "")
	return m.Must(ctx, machine.Exec{Argv: []string{"bash", "-ec", "mkdir -p /dev/disk/by-id; ln -sfn " + volumesDir + "/" + volume + " " + link}})
}

// DeleteVolume deletes a volume's content.
func (s *Service) DeleteVolume(volume string) error {
	if volume == "" || strings.ContainsAny(volume, "/.") {
		return fmt.Errorf("volume id %q", volume)
	}
	return os.RemoveAll(filepath.Join(s.volumes(), volume))
}

// cloudConfig is the part of cloud-init's format that is carried out.
type cloudConfig struct {
	WriteFiles []struct {
		Path        string `json:"path"`
		Content     string `json:"content"`
		Encoding    string `json:"encoding"`
		Permissions string `json:"permissions"`
	} `json:"write_files"`
	RunCmd []any `json:"runcmd"`
}

func parseUserData(l Launch) (cloudConfig, error) {
	var c cloudConfig
	text := l.UserData
	if l.Base64 {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return c, err
		}
		text = string(raw)
	}
	if text == "" {
		return c, nil
	}
	if !strings.HasPrefix(text, "#cloud-config\n") {
		return c, errors.New("the local cloud reads #cloud-config with write_files and runcmd only")
	}
	// Strict: a module that is not carried out must not pass for done.
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		return c, fmt.Errorf("the local cloud reads write_files and runcmd only: %w", err)
	}
	return c, nil
}

func (c cloudConfig) run(ctx context.Context, m *region.Machine) error {
	for _, f := range c.WriteFiles {
		content := []byte(f.Content)
		if f.Encoding != "" {
			return fmt.Errorf("write_files %s: encoding %q is not carried out here", f.Path, f.Encoding)
		}
		mode, err := strconv.ParseUint(f.Permissions, 8, 32)
		if f.Permissions == "" {
			mode, err = 0o644, nil
		}
		if err != nil {
			return fmt.Errorf("write_files %s: permissions %q: %w", f.Path, f.Permissions, err)
		}
		path := filepath.Join(m.Root, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, os.FileMode(mode)); err != nil {
			return err
		}
	}
	for _, cmd := range c.RunCmd {
		argv, err := command(cmd)
		if err != nil {
			return err
		}
		const log = "/var/log/cloud-init-output.log"
		res, err := m.Run(ctx, machine.Exec{Argv: argv, Stdout: log, Stderr: log})
		if err != nil {
			return err
		}
		if res.ExitCode != 0 {
			return fmt.Errorf("%s ended with %d; see %s", strings.Join(argv, " "), res.ExitCode, filepath.Join(m.Root, log))
		}
	}
	return nil
}

func command(v any) ([]string, error) {
	switch c := v.(type) {
	case string:
		return []string{"sh", "-c", c}, nil
	case []any:
		var argv []string
		for _, w := range c {
			argv = append(argv, fmt.Sprint(w))
		}
		return argv, nil
	}
	return nil, fmt.Errorf("runcmd: %v is neither a string nor a list", v)
}
