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

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const gib = 1 << 30

// What a first `up` needs, in bytes, measured on Debian 12 with Go 1.26 in
// November 2026 and rounded up to half a GiB.
const (
	// BuildSpace is the disk that building from empty caches takes: Go's build
	// cache for all servers and this program (8.1 GiB), their modules (4.4 GiB),
	// the Maven repository (0.4 GiB), and the project's own cache of servers,
	// applications and artifacts (1.2 GiB).
	BuildSpace = 14.5 * gib
	// Memory is the peak of the local cloud's processes while the example job ran
	// (the sum of their proportional set sizes: 5.4 GiB).
	Memory = 5.5 * gib
)

// stateSpace returns the size of a local cloud's folder after several jobs (1.6
// GiB), plus the stores' reserve.
func stateSpace() float64 { return float64(2+platform.StoreReserveGiB()) * gib }

// disk compares the free space of each file system with what builds and a local cloud
// would still write to it.
func (m machine) disk(ctx context.Context) Check {
	c := Check{Name: "disk", Remedy: "free disk space, or set XDG_CACHE_HOME, GOCACHE and --state to a larger file system"}
	caches, err := m.cacheFolder()
	if err != nil {
		c.Rule, c.Found, c.Remedy = "the user must have a cache folder", err.Error(), "set HOME or XDG_CACHE_HOME"
		return c
	}
	needs := map[string]float64{caches: BuildSpace * unbuiltShare(ctx), m.State: stateSpace()}
	if m.Running { // the stores refuse writes if less is free
		needs[m.State] = float64(platform.StoreReserveGiB()) * gib
	}
	systems, err := fileSystems(needs)
	if err != nil {
		c.Rule, c.Found = "free space must be measurable", err.Error()
		return c
	}
	c.OK = true
	var found, rules []string
	for _, f := range systems {
		c.OK = c.OK && f.free >= f.need
		found = append(found, fmt.Sprintf("%.1f GiB free at %s", f.free/gib, strings.Join(f.folders, " and ")))
		rules = append(rules, fmt.Sprintf("%.1f GiB", f.need/gib))
	}
	c.Found, c.Rule = strings.Join(
		found, ", ",
	), "must be at least "+strings.Join(rules, ", ")+" for what remains to be built and what a local cloud writes"
	return c
}

func (m machine) cacheFolder() (string, error) {
	if m.Caches != "" {
		return m.Caches, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return dir, nil
}

// unbuiltShare returns the share of servers that are not in the cache yet.
func unbuiltShare(ctx context.Context) float64 {
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

// fileSystem is a file system with its free and its needed space in bytes.
type fileSystem struct {
	folders    []string
	free, need float64
}

// fileSystems adds up the needs of folders on the same file system.
func fileSystems(needs map[string]float64) ([]fileSystem, error) {
	var out []fileSystem
	index := map[uint64]int{}
	for _, folder := range slices.Sorted(maps.Keys(needs)) {
		at, err := existingParent(folder)
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
			out = append(out, fileSystem{free: float64(fs.Bavail) * float64(fs.Bsize)})
		}
		out[i].folders = append(out[i].folders, folder)
		out[i].need += needs[folder]
	}
	return out, nil
}

// existingParent returns folder, or its nearest parent that exists.
func existingParent(folder string) (string, error) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", folder, err)
	}
	for {
		if _, err := os.Stat(at); err == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return "", fmt.Errorf("find %s: no parent folder exists", folder)
		}
		at = filepath.Dir(at)
	}
}

func (m machine) memory(context.Context) Check {
	c := Check{
		Name: "memory", Rule: fmt.Sprintf("must be at least %.1f GiB available for a local cloud with one job", float64(Memory)/gib),
		Remedy: "stop other programs, or use a larger machine",
	}
	if m.Running {
		c.Rule = "is in use already: the local cloud is running"
	}
	available, err := memAvailable("/proc/meminfo")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	c.Found, c.OK = fmt.Sprintf("%.1f GiB available", available/gib), m.Running || available >= Memory
	return c
}

// memAvailable returns the kernel's estimate of the memory that programs can use
// without swapping, in bytes (proc_meminfo(5), MemAvailable).
func memAvailable(file string) (float64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
			if err != nil {
				return 0, fmt.Errorf("read memory: MemAvailable in %s: %w", file, err)
			}
			return kib * 1024, nil
		}
	}
	return 0, fmt.Errorf("read memory: %s has no MemAvailable", file)
}

// namespaces checks that this user can create the namespaces of a local cloud.
func (m machine) namespaces(context.Context) Check {
	c := Check{
		Name: "namespaces",
		Rule: "this user must be able to create user, mount, network and PID namespaces with mounts, a bridge and veth pairs in them",
	}
	if m.Namespaces == nil {
		c.Found, c.Remedy = "not tried", "run `make build`"
		return c
	}
	if err := m.Namespaces(); err != nil {
		c.Found, c.Remedy = orFallback(strings.Join(strings.Fields(err.Error()), " "), "an error without text"), namespaceRemedy("/proc/sys")
		return c
	}
	c.Found, c.OK = "created and removed", true
	return c
}

// namespaceRemedy names the kernel setting that forbids namespaces. If none does,
// a container or missing kernel modules are the cause.
func namespaceRemedy(sys string) string {
	for _, s := range []struct{ file, bad, command string }{
		{"user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"},
		{"user/max_net_namespaces", "0", "sudo sysctl -w user.max_net_namespaces=15000"},
		{
			"kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1",
		}, // Debian's own setting
		{
			"kernel/apparmor_restrict_unprivileged_userns", "1", "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
		}, // Ubuntu 23.10 and later
	} {
		if value, err := os.ReadFile(filepath.Join(sys, s.file)); err == nil && strings.TrimSpace(string(value)) == s.bad {
			return "run `" + s.command + "`"
		}
	}
	return "in a container, start it with --privileged; otherwise load the kernel modules: `sudo modprobe -a bridge veth`"
}
