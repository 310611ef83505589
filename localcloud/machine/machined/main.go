// Command machined is the init, agent, sudo and systemctl of a machine of the
// local cloud; see package machine. It is small because scripts call sudo often.
// Under the name k3s it stands in for K3s on the control node.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

func main() {
	if name := filepath.Base(os.Args[0]); name == "sudo" || name == "systemctl" {
		os.Exit(machine.Shim(name, os.Args[1:]))
	}
	if filepath.Base(os.Args[0]) == "k3s" {
		if err := serveReadiness(k3sConfig); err != nil {
			fmt.Fprintln(os.Stderr, "k3s:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "machined:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: machined boot | agent | init DESCRIPTORS PROGRAM [ARG…]")
	}
	switch args[0] {
	case "boot":
		return machine.Boot()
	case "agent":
		return machine.RunAgent()
	case "init":
		if len(args) < 3 {
			return errors.New("usage: machined init DESCRIPTORS PROGRAM [ARG…]")
		}
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("descriptors %q: %w", args[1], err)
		}
		return machine.Init(args[2:], n)
	}
	return fmt.Errorf("unknown command %q", args[0])
}
