package ec2

import (
	"errors"
	"os"
	"path/filepath"
)

// volumesMount is where an instance sees the volumes, a folder for each. Once a
// volume has a file system, its folder holds the file uuid and the file system's
// content in fs.
const volumesMount = "/.volumes"

// volumePrograms replace those of an Amazon Linux image that work on block devices,
// which a namespace does not have: a volume is a folder, and mounting its file
// system is a bind mount.
func volumePrograms() map[string]string {
	return map[string]string{"usr/sbin/blkid": blkid, "usr/sbin/mkfs.xfs": mkfsXFS, "usr/bin/mount": mountVolume}
}

const blkid = `#!/bin/bash
dev="${!#}"
[ -e "$dev/uuid" ] || exit 2
case " $* " in
*" -s UUID -o value "*) cat "$dev/uuid" ;;
*) echo "$dev: UUID=\"$(cat "$dev/uuid")\" TYPE=\"xfs\"" ;;
esac
`

const mkfsXFS = `#!/bin/bash
dev="${!#}"
[ ! -e "$dev/uuid" ] || { echo "mkfs.xfs: $dev appears to contain an existing filesystem (xfs)." >&2; exit 1; }
mkdir -p "$dev/fs" && cat /proc/sys/kernel/random/uuid > "$dev/uuid"
`

const mountVolume = `#!/bin/bash
if [ $# -ne 1 ]; then exec /.host/usr/bin/mount "$@"; fi
while read -r source point _; do
  [ "$point" = "$1" ] || continue
  for v in /dev/disk/by-id/*; do # of attached volumes only
    [ "UUID=$(cat "$v/uuid" 2>/dev/null)" = "$source" ] && exec /.host/usr/bin/mount --bind "$v/fs" "$point"
  done
done < /etc/fstab
echo "mount: $1: can't find in /etc/fstab." >&2
exit 1
`

// sysctlUnit is the service that scripts restart to apply kernel settings. Those
// are the host's, so it does nothing.
const sysctlUnit = "[Service]\nType=oneshot\nExecStart=/bin/true\n"

// writeImage writes what the machine image contains: the AWS CLI, the command k3s (a
// link to machined, which runs in place of K3s), the unit systemd-sysctl, an empty fstab,
// and volumePrograms.
func (s *Service) writeImage(root string) error {
	if err := s.PrepareCLI(root); err != nil {
		return err
	}
	for path, text := range volumePrograms() {
		if err := replaceLink(filepath.Join(root, path), text, 0o755); err != nil {
			return err
		}
	}
	if err := replaceLink(filepath.Join(root, "etc/systemd/system/systemd-sysctl.service"), sysctlUnit, 0o644); err != nil {
		return err
	}
	if err := replaceLink(filepath.Join(root, "etc/fstab"), "", 0o644); err != nil {
		return err
	}
	// /usr/local is a link to the host's folder. An instance has its own.
	local := filepath.Join(root, "usr/local")
	if err := os.RemoveAll(local); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(local, "bin"), 0o755); err != nil {
		return err
	}
	return os.Symlink("/.host/machined", filepath.Join(local, "bin", "k3s"))
}

// replaceLink writes a file in place of a link into the host's folders, not through
// the link.
func replaceLink(path, text string, mode os.FileMode) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}
