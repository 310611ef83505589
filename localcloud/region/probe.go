package region

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
)

// Try finds out whether this user may make what a region consists of, by
// making it: argv is a program that calls Probe, machined the path of the
// machined binary. Nothing of it stays.
func Try(machined string, argv []string) error {
	dir, err := os.MkdirTemp("", "region-")
	if err != nil {
		return fmt.Errorf("make a folder for the trial: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return fmt.Errorf("make a log for the trial: %w", err)
	}
	defer log.Close() //nolint:errcheck // read below by its name
	const wait = 20 * time.Second
	if _, err := Spawn(machined, argv, map[string]net.Listener{}, log, wait); err != nil {
		said, _ := os.ReadFile(log.Name())
		if text := strings.TrimSpace(string(said)); text != "" {
			return fmt.Errorf("%s", text)
		}
		return err
	}
	return nil
}

// Probe runs inside the namespaces of Try: it raises a region's network with
// one cable, as Open and Boot do.
func Probe() error {
	_, up, err := Inherited()
	if err != nil {
		return err
	}
	if _, err := Open("", "", "10.0.0.1/16"); err != nil {
		return err
	}
	br, err := netlink.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("bridge: %w", err)
	}
	cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "cable0", MasterIndex: br.Attrs().Index}, PeerName: "cable1"}
	if err := netlink.LinkAdd(cable); err != nil {
		return fmt.Errorf("cable: %w", err)
	}
	return up()
}
