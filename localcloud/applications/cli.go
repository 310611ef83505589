package applications

import (
	"errors"
	"os"
	"path/filepath"
)

// Mount is where machines see the tree.
const Mount = "/.host/applications"

// WriteCLI puts the AWS CLI, which EMR's and Amazon Linux's images have, into
// the root of a machine that sees the tree at Mount.
func WriteCLI(root string) error {
	path := filepath.Join(root, "usr/bin/aws")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	script := "#!/bin/sh\nPYTHONPATH=" + Mount + "/aws exec /usr/bin/python3 -m awscli \"$@\"\n"
	return os.WriteFile(path, []byte(script), 0o755) //nolint:gosec // a program
}
