package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// hostDir is where the host's read-only system folders appear in a machine;
// /usr/bin, /usr/lib and /etc are made of links into it, so that a machine can
// add and replace entries without overlay mounts (not to be had rootless).
const hostDir = "/.host"

// hostEtc are the entries of the host's /etc that programs of /usr need to run
// at all, on Debian's family and Red Hat's. The rest of /etc is the machine's.
var hostEtc = regexp.MustCompile(`^(alternatives|ca-certificates.*|crypto-policies|gai\.conf|host\.conf|java.*|ld\.so\..*|locale\..*|localtime|login\.defs|mime\.types|pki|protocols|rpc|services|ssl|timezone)$`)

// Prepare lays out a machine's root folder on the host: links to the host's
// system folders, accounts, hosts file. It may be called again on the same
// folder; what the machine itself wrote stays.
func Prepare(s Spec) error {
	for _, d := range []string{
		".host/usr", ".host/etc", "usr", "etc/systemd/system", "opt", "mnt/var/log", "mnt/var/lib", "emr", "data",
		"var/lib", "var/tmp", "var/run", "tmp", "run", "root", "home", "proc", "sys", "dev",
	} {
		if err := os.MkdirAll(filepath.Join(s.Root, d), 0o755); err != nil {
			return fmt.Errorf("lay out machine %s: %w", s.Name, err)
		}
	}
	for _, d := range []string{"tmp", "var/tmp"} {
		if err := os.Chmod(filepath.Join(s.Root, d), 0o1777); err != nil {
			return err
		}
	}
	if err := link("../mnt/var/log", filepath.Join(s.Root, "var/log")); err != nil {
		return err
	}
	if err := linkFarm("/usr", filepath.Join(s.Root, "usr"), hostDir+"/usr", func(name string) bool { return name != "bin" && name != "sbin" && name != "lib" }); err != nil {
		return err
	}
	for _, d := range []string{"bin", "sbin", "lib"} {
		if err := linkFarm("/usr/"+d, filepath.Join(s.Root, "usr", d), hostDir+"/usr/"+d, func(string) bool { return true }); err != nil {
			return err
		}
	}
	if err := linkFarm("/etc", filepath.Join(s.Root, "etc"), hostDir+"/etc", hostEtc.MatchString); err != nil {
		return err
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64", "lib32", "libx32"} {
		if _, err := os.Lstat("/" + d); err == nil {
			if err := link("usr/"+d, filepath.Join(s.Root, d)); err != nil {
				return err
			}
		}
	}
	for _, n := range []string{"sudo", "systemctl"} {
		if err := replaceLink(machinedPath, filepath.Join(s.Root, "usr/bin", n)); err != nil {
			return err
		}
	}
	return writeAccounts(s)
}

// linkFarm fills dir with links to the entries of host that are wanted, under
// the name that the host folder has in the machine.
func linkFarm(host, dir, inMachine string, wanted func(name string) bool) error {
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

// link makes a symbolic link unless something is there already.
func link(target, path string) error {
	if err := os.Symlink(target, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func replaceLink(target, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(target, path)
}

func writeAccounts(s Spec) error {
	passwd, group := []string{}, []string{"root:x:0:"}
	members := map[string][]string{}
	for _, u := range s.Users {
		uid, gid := u.UID, u.GID
		if s.OneUser {
			uid, gid = 0, 0
		}
		passwd = append(passwd, fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash", u.Name, uid, gid, u.Home))
		group = append(group, fmt.Sprintf("%s:x:%d:", u.Name, gid))
		for _, g := range u.Groups {
			members[g] = append(members[g], u.Name)
		}
		home := filepath.Join(s.Root, u.Home)
		if err := os.MkdirAll(home, 0o755); err != nil {
			return err
		}
		if err := os.Chown(home, uid, gid); err != nil {
			return err
		}
	}
	for i, line := range group {
		group[i] = line + strings.Join(members[strings.SplitN(line, ":", 2)[0]], ",")
	}
	// The first account with id 0 is the one that programs see, so one-user
	// machines are "hadoop", as a node's steps are.
	passwd = append(passwd, "root:x:0:0:root:/root:/bin/bash", "nobody:x:65534:65534::/:/bin/false")
	if !s.OneUser {
		passwd = append(passwd[len(passwd)-2:], passwd[:len(passwd)-2]...)
	}
	hosts := []string{"127.0.0.1 localhost", "::1 localhost"}
	names := make([]string, 0, len(s.Hosts))
	for ip := range s.Hosts {
		names = append(names, ip)
	}
	sort.Strings(names)
	for _, ip := range names {
		hosts = append(hosts, ip+" "+strings.Join(s.Hosts[ip], " "))
	}
	env := make([]string, 0, len(s.Env))
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	sort.Strings(env)
	for name, lines := range map[string][]string{
		"passwd": passwd, "group": group, "hosts": hosts, "environment": env,
		"hostname": {s.Hostname}, "nsswitch.conf": {"passwd: files", "group: files", "hosts: files"},
		"resolv.conf": {"# names come from /etc/hosts"},
	} {
		if err := os.WriteFile(filepath.Join(s.Root, "etc", name), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // as on any Linux
			return err
		}
	}
	return nil
}

// enterRoot makes s.Root the root of the calling process's mount namespace.
// It must run before any other goroutine depends on the file system.
func enterRoot(s Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount(s.Root, s.Root, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind root %s: %w", s.Root, err)
	}
	binds := append([]Bind{{From: "/usr", To: hostDir + "/usr", ReadOnly: true}, {From: "/etc", To: hostDir + "/etc", ReadOnly: true}, {From: "/sys", To: "/sys", ReadOnly: true}}, s.Binds...)
	for _, b := range binds {
		if err := bind(s.Root, b); err != nil {
			return err
		}
	}
	if err := devices(s.Root); err != nil {
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

// devices gives the machine a /dev of its own: the harmless devices of the
// host, and room for links to volumes.
func devices(root string) error {
	dev := filepath.Join(root, "dev")
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID, "mode=0755"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := bind(root, Bind{From: "/dev/" + name, To: "/dev/" + name}); err != nil {
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

func bind(root string, b Bind) error {
	to := filepath.Join(root, b.To)
	info, err := os.Stat(b.From)
	if err != nil {
		return fmt.Errorf("bind %s: %w", b.From, err)
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
		if _, missing := os.Lstat(to); missing != nil {
			err = os.WriteFile(to, nil, 0o644) //nolint:gosec // a mount point
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
	// mount_setattr would cover submounts too; a bind of /usr or of a cache
	// folder has none that matter.
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	if err := unix.Mount("", to, "", flags, ""); err != nil {
		var st unix.Statfs_t
		if unix.Statfs(to, &st) == nil { // flags locked by the host (nosuid, nodev…) must be repeated
			flags |= uintptr(st.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RELATIME)
		}
		if err := unix.Mount("", to, "", flags, ""); err != nil {
			return fmt.Errorf("make %s read-only: %w", b.To, err)
		}
	}
	return nil
}
