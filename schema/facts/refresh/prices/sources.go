package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// module is a Go module, of which the tool reads one file.
//
// It is downloaded and not imported. Karpenter's package of prices needs 300 others, one of
// which (a pseudo-version of sigs.k8s.io/karpenter) a module proxy may refuse, and a newer
// Go than this project. The API of ec2-instances-info has no EMR fees, and its go.mod names
// another path than the one that is served.
type module struct {
	path, version string
	sum           string // of its content, as in go.sum
}

var (
	karpenter = module{
		"github.com/aws/karpenter-provider-aws", "v1.15.2", "h1:RGw64PB2ROUHZIUhBqjO78l3zJ9YctnWeullrr4cxYI=",
	}
	instancesInfo = module{
		"github.com/cristim/ec2-instances-info", "v0.0.0-20250528091325-32acf84f42eb", "h1:exJ9FsMTbotSG5xgDHmFJE84gV3MZ4JRpR8nhbgJz/k=",
	}
)

// downloaded is a module in Go's cache.
type downloaded struct {
	module
	Zip, Info, Sum, Error string // as `go mod download -json` prints them
}

// download fetches the module, and refuses other content than the one that was read when
// its version was chosen.
func (m module) download(ctx context.Context) (downloaded, error) {
	out := downloaded{module: m}
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	command.Stderr = os.Stderr
	text, failure := command.Output()
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("download %s %s: %w", m.path, m.version, errors.Join(failure, err))
	}
	// Go also fails if the module wants a newer Go, but then has the content all the same.
	if out.Zip == "" {
		return out, fmt.Errorf("download %s %s: %s: %w", m.path, m.version, out.Error, failure)
	}
	if out.Sum != m.sum {
		return out, fmt.Errorf("%s %s has the checksum %s, not %s: read what changed", m.path, m.version, out.Sum, m.sum)
	}
	return out, nil
}

// date returns the day of the version.
func (d downloaded) date() (string, error) {
	text, err := os.ReadFile(d.Info)
	if err != nil {
		return "", fmt.Errorf("read the date of %s: %w", d.path, err)
	}
	var info struct{ Time time.Time }
	if err := json.Unmarshal(text, &info); err != nil {
		return "", fmt.Errorf("read the date of %s: %w", d.path, err)
	}
	return info.Time.Format(time.DateOnly), nil
}

// read hands a file of the module to a function.
func (d downloaded) read(name string, use func(io.Reader) error) error {
	archive, err := zip.OpenReader(d.Zip)
	if err != nil {
		return fmt.Errorf("open %s: %w", d.Zip, err)
	}
	defer func() { _ = archive.Close() }()
	file, err := archive.Open(d.path + "@" + d.version + "/" + name)
	if err != nil {
		return fmt.Errorf("open %s of %s: %w", name, d.path, err)
	}
	defer func() { _ = file.Close() }()
	if err := use(file); err != nil {
		return fmt.Errorf("read %s of %s %s: %w", name, d.path, d.version, err)
	}
	return nil
}
