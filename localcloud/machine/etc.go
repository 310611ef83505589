package machine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// writeEtc writes the files of /etc that differ from the host's.
func writeEtc(s Spec) error {
	if err := makeHomes(s); err != nil {
		return err
	}
	passwd, group := accounts(s)
	env := make([]string, 0, len(s.Env))
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	sort.Strings(env)
	for name, lines := range map[string][]string{
		"passwd": passwd, "group": group, "hosts": HostsLines(s.Hosts), "environment": env,
		"hostname": {s.Hostname}, "nsswitch.conf": {"passwd: files", "group: files", "hosts: files"},
		"resolv.conf": {"# names come from /etc/hosts"},
	} {
		if err := os.WriteFile(filepath.Join(s.Root, "etc", name), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// makeHomes creates the accounts' home folders.
func makeHomes(s Spec) error {
	for _, u := range s.Users {
		home := filepath.Join(s.Root, u.Home)
		if err := os.MkdirAll(home, 0o755); err != nil {
			return err
		}
		uid, gid := s.accountIDs(u)
		if err := os.Chown(home, uid, gid); err != nil {
			return err
		}
	}
	return nil
}

// accountIDs returns the uid and gid that an account has on the machine.
func (s Spec) accountIDs(u User) (uid, gid int) {
	if s.SingleUID {
		return 0, 0
	}
	return u.UID, u.GID
}

// accounts renders /etc/passwd and /etc/group.
func accounts(s Spec) (passwd, group []string) {
	system := []string{"root:x:0:0:root:/root:/bin/bash", "nobody:x:65534:65534::/:/bin/false"}
	members := map[string][]string{}
	for _, u := range s.Users {
		uid, gid := s.accountIDs(u)
		passwd = append(passwd, fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash", u.Name, uid, gid, u.Home))
		for _, g := range u.Groups {
			members[g] = append(members[g], u.Name)
		}
	}
	// A lookup by uid finds the first entry with that uid.
	if s.SingleUID {
		passwd = append(passwd, system...)
	} else {
		passwd = append(system, passwd...)
	}
	group = []string{"root:x:0:" + strings.Join(members["root"], ",")}
	for _, u := range s.Users {
		_, gid := s.accountIDs(u)
		group = append(group, fmt.Sprintf("%s:x:%d:%s", u.Name, gid, strings.Join(members[u.Name], ",")))
	}
	return passwd, group
}

// HostsLines renders /etc/hosts from names by address.
func HostsLines(hosts map[string][]string) []string {
	lines := []string{"127.0.0.1 localhost", "::1 localhost"}
	for _, ip := range slices.Sorted(maps.Keys(hosts)) {
		lines = append(lines, ip+" "+strings.Join(hosts[ip], " "))
	}
	return lines
}
