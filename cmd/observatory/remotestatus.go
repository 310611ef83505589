package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// envStatusPassword is the variable with the password of the status page.
const envStatusPassword = "OBSERVATORY_STATUS_PASSWORD"

// remoteStatus says how to reach the status page of a platform on AWS.
type remoteStatus struct{ url, caCertificate, passwordFile string }

// addFlags adds the flags; that of the URL has the given name.
func (r *remoteStatus) addFlags(c *cobra.Command, url string) {
	c.Flags().StringVar(&r.url, url, "", "status `URL` of a platform on AWS (stack output statusUrl)")
	c.Flags().StringVar(&r.caCertificate, "ca-certificate", "",
		"`file` with the stack output caCertificate (default: this machine's CAs)")
	c.Flags().StringVar(&r.passwordFile, "password-file", "", fmt.Sprintf(
		"`file` with the stack output statusPassword, - for stdin (default: $%s)", envStatusPassword))
}

// words returns the flags of addFlags("status-url") as they were given, none if that would
// not do again: stdin has been read.
func (r *remoteStatus) words() []string {
	if r.url == "" || r.passwordFile == "-" {
		return nil
	}
	words := []string{"--status-url", r.url}
	if r.caCertificate != "" {
		words = append(words, "--ca-certificate", r.caCertificate)
	}
	if r.passwordFile != "" {
		words = append(words, "--password-file", r.passwordFile)
	}
	return words
}

// fetch reads the status.
func (r *remoteStatus) fetch(ctx context.Context, stdin io.Reader) (status.Status, error) {
	access, err := r.access(stdin)
	if err != nil {
		return status.Status{}, err
	}
	return status.Fetch(ctx, r.url, access)
}

// access reads the CA and the password; stdin is read for the password file "-".
func (r *remoteStatus) access(stdin io.Reader) (status.Access, error) {
	access := status.Access{Password: os.Getenv(envStatusPassword)}
	var err error
	if r.caCertificate != "" {
		if access.CACertificate, err = os.ReadFile(r.caCertificate); err != nil {
			return status.Access{}, fmt.Errorf("--ca-certificate: %w; write it with `pulumi stack output caCertificate`", err)
		}
	}
	if r.passwordFile != "" {
		if access.Password, err = r.password(stdin); err != nil {
			return status.Access{}, err
		}
	}
	return access, nil
}

// password reads the password file.
func (r *remoteStatus) password(stdin io.Reader) (string, error) {
	if r.passwordFile != "-" {
		file, err := os.Open(r.passwordFile)
		if err != nil {
			return "", fmt.Errorf("--password-file: %w; write it with `pulumi stack output statusPassword --show-secrets`", err)
		}
		defer file.Close()
		stdin = file
	}
	text, err := io.ReadAll(stdin)
	if err != nil {
		return "", fmt.Errorf("--password-file %s: %w", r.passwordFile, err)
	}
	password := strings.TrimSpace(string(text))
	if password == "" {
		return "", fmt.Errorf("--password-file %s: empty: must hold the password of %s; "+
			"write it with `pulumi stack output statusPassword --show-secrets`", r.passwordFile, platform.StatusUser)
	}
	return password, nil
}
