package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
)

const gib = 1 << 30

// What a first `up` takes, measured on Debian 12 with Go 1.26 in November
// 2026, each rounded up to half a GiB.
const (
	// BuildSpace is what an empty machine builds and fetches: Go's build cache
	// of every server and of this program (8.1 GiB of packages), their modules
	// (4.4 GiB), the Maven repository (0.4 GiB), and the project's own cache
	// of servers, applications and artifacts (1.2 GiB).
	BuildSpace = 14.5 * gib
	// StateSpace is a local cloud's folder after several jobs (1.6 GiB), and what
	// its stores leave free.
	StateSpace = (2 + platform.StoreReserveGiB) * gib
	// Memory is the most that the local cloud's processes held while the
	// example job ran (the sum of their proportional set sizes: 5.4 GiB).
	Memory = 5.5 * gib
)

// disk compares the free space with what is still to be built and with what a
// local cloud writes, per file system.
func (m machine) disk(ctx context.Context) Check {
	c := Check{Name: "disk", Remedy: "free some, or point XDG_CACHE_HOME, GOCACHE and --state at a larger file system"}
	caches, err := m.cacheFolder()
	if err != nil {
		c.Rule, c.Found, c.Remedy = "must have a cache folder", err.Error(), "set HOME or XDG_CACHE_HOME"
		return c
	}
	needs := map[string]float64{caches: BuildSpace * unbuilt(ctx), m.State: StateSpace}
	if m.Running { // below it the stores refuse what they are sent
		needs[m.State] = platform.StoreReserveGiB * gib
	}
	rooms, err := rooms(needs)
	if err != nil {
		c.Rule, c.Found = "must be known", err.Error()
		return c
	}
	c.OK = true
	var found, rules []string
	for _, r := range rooms {
		c.OK = c.OK && r.free >= r.need
		found = append(found, fmt.Sprintf("%.1f GiB free at %s", r.free/gib, strings.Join(r.folders, " and ")))
		rules = append(rules, fmt.Sprintf("%.1f GiB", r.need/gib))
	}
	c.Found, c.Rule = strings.Join(found, ", "), "must be at least "+strings.Join(rules, ", ")+" for what is still to be built and what a local cloud writes"
	return c
}

func (m machine) cacheFolder() (string, error) {
	if m.Caches != "" {
		return m.Caches, nil
	}
	return os.UserCacheDir()
}

// unbuilt is the share of the servers that are not in the cache yet.
func unbuilt(ctx context.Context) float64 {
	list, err := servers.List()
	if err != nil || len(list) == 0 {
		return 1
	}
	missing := 0
	for _, s := range list {
		if _, err := servers.Find(ctx, s.Name); err != nil {
			missing++
		}
	}
	return float64(missing) / float64(len(list))
}

// room is a file system and what is wanted of it, in bytes.
type room struct {
	folders    []string
	free, need float64
}

// rooms sums the needs of folders that share a file system.
func rooms(needs map[string]float64) ([]room, error) {
	var out []room
	index := map[uint64]int{}
	for _, folder := range slices.Sorted(maps.Keys(needs)) {
		at, err := existing(folder)
		if err != nil {
			return nil, err
		}
		var info unix.Stat_t
		var fs unix.Statfs_t
		if err := errors.Join(unix.Stat(at, &info), unix.Statfs(at, &fs)); err != nil {
			return nil, fmt.Errorf("measure %s: %w", at, err)
		}
		i, known := index[info.Dev]
		if !known {
			i = len(out)
			index[info.Dev] = i
			out = append(out, room{free: float64(fs.Bavail) * float64(fs.Bsize)})
		}
		out[i].folders = append(out[i].folders, folder)
		out[i].need += needs[folder]
	}
	return out, nil
}

// existing is folder, or the nearest folder above it that is there.
func existing(folder string) (string, error) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", folder, err)
	}
	for {
		if _, err := os.Stat(at); err == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return "", fmt.Errorf("find %s: nothing of it is there", folder)
		}
		at = filepath.Dir(at)
	}
}

func (m machine) memory(context.Context) Check {
	c := Check{Name: "memory", Rule: fmt.Sprintf("must be at least %.1f GiB available for a local cloud with one job", float64(Memory)/gib), Remedy: "end other programs, or take a larger machine"}
	if m.Running {
		c.Rule = "is taken already: the local cloud runs"
	}
	available, err := memAvailable("/proc/meminfo")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	c.Found, c.OK = fmt.Sprintf("%.1f GiB available", available/gib), m.Running || available >= Memory
	return c
}

// memAvailable is the kernel's estimate of what programs can have without
// swapping, in bytes (proc_meminfo(5), MemAvailable).
func memAvailable(file string) (float64, error) {
	f, err := os.Open(file) //nolint:gosec // the kernel's
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("read memory: %s has no MemAvailable", file)
}

// namespaces tries to make what the local cloud consists of.
func (m machine) namespaces(context.Context) Check {
	c := Check{Name: "namespaces", Rule: "this user must be able to make user, mount, network and process namespaces with mounts, a bridge and cables in them"}
	if m.Namespaces == nil {
		c.Found, c.Remedy = "no way to try", "run `make build`"
		return c
	}
	if err := m.Namespaces(); err != nil {
		c.Found, c.Remedy = or(strings.Join(strings.Fields(err.Error()), " "), ""), namespaceRemedy("/proc/sys")
		return c
	}
	c.Found, c.OK = "made and removed again", true
	return c
}

// namespaceRemedy names the switch of the kernel that is in the way. Without
// one it is a container or a kernel without the parts.
func namespaceRemedy(sys string) string {
	for _, s := range []struct{ file, bad, command string }{
		{"user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"},
		{"user/max_net_namespaces", "0", "sudo sysctl -w user.max_net_namespaces=15000"},
		{"kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"},                         // Debian's own switch
		{"kernel/apparmor_restrict_unprivileged_userns", "1", "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}, // Ubuntu 23.10 and later
	} {
		if value, err := os.ReadFile(filepath.Join(sys, s.file)); err == nil && strings.TrimSpace(string(value)) == s.bad {
			return "run `" + s.command + "`"
		}
	}
	return "inside a container start it with --privileged; otherwise load what is missing: `sudo modprobe -a bridge veth`"
}
