package region

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
)

// CheckPermitted fails if this user may not create a region; it creates one and
// removes it. machined is the path of that binary; argv is a command that calls
// Probe.
func CheckPermitted(machined string, argv []string) error {
	dir, err := os.MkdirTemp("", "region-")
	if err != nil {
		return fmt.Errorf("check that a region can be created: %w", err)
	}
	defer os.RemoveAll(dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return fmt.Errorf("check that a region can be created: %w", err)
	}
	defer log.Close()
	_, err = Spawn(machined, argv, map[string]net.Listener{}, log, 2*time.Minute)
	if err == nil {
		return nil
	}
	text, readErr := os.ReadFile(log.Name())
	if cause := strings.TrimSpace(string(text)); readErr == nil && cause != "" {
		return errors.New(cause)
	}
	return err
}

// Probe runs in the namespaces that CheckPermitted creates: it opens a region's
// network and connects one machine's veth pair, as Open and Boot do.
func Probe() error {
	_, reportUp, err := Inherited()
	if err != nil {
		return err
	}
	if _, err := Open("", "", "10.0.0.1/16"); err != nil {
		return err
	}
	br, err := netlink.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("find bridge: %w", err)
	}
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "veth0", MasterIndex: br.Attrs().Index}, PeerName: "veth1"}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("create veth pair: %w", err)
	}
	return reportUp()
}
