package ec2

import (
	"errors"
	"os"
	"path/filepath"
)

// volumesDir is where volumes are in an instance: a folder each, with the file
// uuid once a file system was made, and its files in fs.
const volumesDir = "/.volumes"

// programs replace those of an Amazon Linux image that work on block devices,
// which a namespace has none of. A volume is a folder; its file system is
// mounted by a bind.
var programs = map[string]string{ //nolint:gochecknoglobals // a table
	"usr/sbin/blkid": `#!/bin/bash
dev="${!#}"
[ -e "$dev/uuid" ] || exit 2
case " $* " in
*" -s UUID -o value "*) cat "$dev/uuid" ;;
*) echo "$dev: UUID=\"$(cat "$dev/uuid")\" TYPE=\"xfs\"" ;;
esac
`,
	"usr/sbin/mkfs.xfs": `#!/bin/bash
dev="${!#}"
[ ! -e "$dev/uuid" ] || { echo "mkfs.xfs: $dev appears to contain an existing filesystem (xfs)." >&2; exit 1; }
mkdir -p "$dev/fs" && cat /proc/sys/kernel/random/uuid > "$dev/uuid"
`,
	"usr/bin/mount": `#!/bin/bash
if [ $# -ne 1 ]; then exec /.host/usr/bin/mount "$@"; fi
while read -r source point _; do
  [ "$point" = "$1" ] || continue
  for v in /.volumes/*; do
    [ "UUID=$(cat "$v/uuid" 2>/dev/null)" = "$source" ] && exec /.host/usr/bin/mount --bind "$v/fs" "$point"
  done
done < /etc/fstab
echo "mount: $1: can't find in /etc/fstab." >&2
exit 1
`,
}

// units are services of an Amazon Linux image that scripts restart. Kernel
// settings are the host's and not changed from here.
var units = map[string]string{ //nolint:gochecknoglobals // a table
	"systemd-sysctl.service": "[Service]\nType=oneshot\nExecStart=/bin/true\n",
}

// image lays down what the machine image has: the AWS CLI, K3s (machined under
// that name), an empty fstab, and the programs above.
func (s *Service) image(root string) error {
	if err := s.PrepareCLI(root); err != nil {
		return err
	}
	for path, text := range programs {
		if err := replace(filepath.Join(root, path), text, 0o755); err != nil {
			return err
		}
	}
	for name, text := range units {
		if err := replace(filepath.Join(root, "etc/systemd/system", name), text, 0o644); err != nil {
			return err
		}
	}
	if err := replace(filepath.Join(root, "etc/fstab"), "", 0o644); err != nil {
		return err
	}
	// /usr/local is a link to the host's; an instance has its own.
	local := filepath.Join(root, "usr/local")
	if err := os.RemoveAll(local); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(local, "bin"), 0o755); err != nil {
		return err
	}
	return os.Symlink("/.host/machined", filepath.Join(local, "bin", "k3s"))
}

// replace writes a file over a link into the host's folders, not through it.
func replace(path, text string, mode os.FileMode) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}
