package applications

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Mount is where nodes see the tree.
const Mount = "/.host/applications"

// WriteCLI installs the AWS CLI, which EMR's and Amazon Linux's images contain,
// in the root of a node that sees the tree at Mount.
func WriteCLI(root string) error {
	path := filepath.Join(root, "usr/bin/aws")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace the AWS CLI: %w", err)
	}
	script := "#!/bin/sh\nPYTHONPATH=" + Mount + "/aws exec /usr/bin/python3 -m awscli \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		return fmt.Errorf("install the AWS CLI: %w", err)
	}
	return nil
}
