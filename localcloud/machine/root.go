package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// hostDir is where the host's read-only system folders appear in a machine.
// /usr/bin, /usr/lib and /etc consist of links into it, so that a machine can add
// and replace entries without overlay mounts, which need root.
const hostDir = "/.host"

// hostEtc matches the entries of the host's /etc that programs in /usr need to
// run, on Debian's family and Red Hat's. The rest of /etc is the machine's.
var hostEtc = regexp.MustCompile(`^(alternatives|ca-certificates.*|crypto-policies|gai\.conf|host\.conf|java.*` +
	`|ld\.so\..*|locale\..*|localtime|login\.defs|mime\.types|pki|protocols|rpc|services|ssl|timezone)$`)

// Prepare creates a machine's root folder on the host: links to the host's system
// folders, accounts, /etc/hosts. In an existing folder it keeps what the machine
// itself wrote.
func Prepare(s Spec) error {
	for _, step := range []func(Spec) error{makeFolders, linkSystem, linkShims, writeEtc} {
		if err := step(s); err != nil {
			return fmt.Errorf("prepare machine %s: %w", s.Name, err)
		}
	}
	return nil
}

// makeFolders creates the folders of a root.
func makeFolders(s Spec) error {
	for _, d := range []string{
		".host/usr", ".host/etc", "usr", "etc/systemd/system", "opt", "mnt/var/log", "mnt/var/lib", "emr", "data",
		"var/lib", "var/tmp", "var/run", "tmp", "run", "root", "home", "proc", "sys", "dev",
	} {
		if err := os.MkdirAll(filepath.Join(s.Root, d), 0o755); err != nil {
			return err
		}
	}
	for _, d := range []string{"tmp", "var/tmp"} {
		if err := os.Chmod(filepath.Join(s.Root, d), 0o1777); err != nil {
			return err
		}
	}
	return link("../mnt/var/log", filepath.Join(s.Root, "var/log"))
}

// linkSystem links the machine's /usr and /etc to the host's.
func linkSystem(s Spec) error {
	all := func(string) bool { return true }
	folders := []struct {
		dir    string
		wanted func(name string) bool
	}{
		{"/usr", func(name string) bool { return name != "bin" && name != "sbin" && name != "lib" }},
		{"/usr/bin", all}, {"/usr/sbin", all}, {"/usr/lib", all},
		{"/etc", hostEtc.MatchString},
	}
	for _, f := range folders {
		if err := linkEntries(f.dir, filepath.Join(s.Root, f.dir), hostDir+f.dir, f.wanted); err != nil {
			return err
		}
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64", "lib32", "libx32"} {
		if _, err := os.Lstat("/" + d); err == nil {
			if err := link("usr/"+d, filepath.Join(s.Root, d)); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkShims links the machine's sudo and systemctl to machined.
func linkShims(s Spec) error {
	for _, n := range []string{"sudo", "systemctl"} {
		if err := ReplaceWithLink(machinedPath, filepath.Join(s.Root, "usr/bin", n)); err != nil {
			return err
		}
	}
	return nil
}

// linkEntries fills dir with links to the wanted entries of a host folder. The
// machine sees that folder at inMachine.
func linkEntries(host, dir, inMachine string, wanted func(name string) bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(host)
	if err != nil {
		return fmt.Errorf("read %s: %w", host, err)
	}
	for _, e := range entries {
		if !wanted(e.Name()) {
			continue
		}
		if err := link(filepath.Join(inMachine, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// link creates a symbolic link unless the path exists.
func link(target, path string) error {
	if err := os.Symlink(target, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// ReplaceWithLink creates a symbolic link in place of the file or link at path.
func ReplaceWithLink(target, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// enterRoot makes s.Root the root of the calling process's mount namespace. Call it
// before any other goroutine uses the file system.
func enterRoot(s Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount(s.Root, s.Root, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind root %s: %w", s.Root, err)
	}
	binds := append([]Bind{
		{From: "/usr", To: hostDir + "/usr", ReadOnly: true},
		{From: "/etc", To: hostDir + "/etc", ReadOnly: true},
		{From: "/sys", To: "/sys", ReadOnly: true},
	}, s.Binds...)
	for _, b := range binds {
		if err := bindMount(s.Root, b); err != nil {
			return err
		}
	}
	if err := mountDevices(s.Root); err != nil {
		return err
	}
	if err := unix.Mount("proc", filepath.Join(s.Root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc of %s: %w", s.Name, err)
	}
	if err := os.Chdir(s.Root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot into %s: %w", s.Root, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach the host's root: %w", err)
	}
	return os.Chdir("/")
}

// mountDevices mounts a tmpfs with the host's harmless devices as the machine's /dev,
// so that links to volumes can be added.
func mountDevices(root string) error {
	dev := filepath.Join(root, "dev")
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID, "mode=0755"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := bindMount(root, Bind{From: "/dev/" + name, To: "/dev/" + name}); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dev, "shm"), 0o777); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", filepath.Join(dev, "shm"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("mount /dev/shm: %w", err)
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// bindMount mounts a host path in the machine's root.
func bindMount(root string, b Bind) error {
	to := filepath.Join(root, b.To)
	info, err := os.Stat(b.From)
	if err != nil {
		return fmt.Errorf("bind %s: %w", b.From, err)
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
		if _, missing := os.Lstat(to); missing != nil {
			err = os.WriteFile(to, nil, 0o644)
		}
	}
	if err != nil {
		return fmt.Errorf("mount point %s: %w", b.To, err)
	}
	if err := unix.Mount(b.From, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", b.From, b.To, err)
	}
	if !b.ReadOnly {
		return nil
	}
	if err := remountReadOnly(to); err != nil {
		return fmt.Errorf("make %s read-only: %w", b.To, err)
	}
	return nil
}

// remountReadOnly makes a bind mount read-only, but not the mounts below it: a
// bind of /usr or of a cache folder has none that matter.
func remountReadOnly(path string) error {
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	if unix.Mount("", path, "", flags, "") == nil {
		return nil
	}
	// Flags that the host's mount locks (nosuid, nodev…) must be repeated.
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err == nil {
		flags |= uintptr(st.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC |
			unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RELATIME)
	}
	return unix.Mount("", path, "", flags, "")
}
