package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// toolsServer is the name of the tools in a client's configuration.
const toolsServer = "spark-history"

// toolsConfigCommand prints how a client of the Model Context Protocol reaches a platform's tools.
func toolsConfigCommand() *cobra.Command {
	var url, caCertificate, tokenFile string
	c := &cobra.Command{
		Use: "config", Args: cobra.NoArgs,
		Short: "Print a language model client's configuration for a platform's tools",
		Long: "Asks a platform's tools for their list, and prints what a client of the Model Context Protocol (MCP) needs to use them:\n" +
			"it starts `observatory profile tools --tools-url`, which trusts the CA and sends the token of the files. Neither is in\n" +
			"the configuration, which has absolute paths, since a client chooses its working folder.",
		Example: "  pulumi stack output caCertificate --stack dev > observatory-ca.pem\n" +
			"  (umask 077; pulumi stack output toolsToken --show-secrets --stack dev > tools-token)\n" +
			"  observatory tools config --url \"$(pulumi stack output toolsUrl --stack dev)\" --ca-certificate observatory-ca.pem" +
			" --token-file tools-token > .mcp.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" || tokenFile == "" {
				return errors.New("--url and --token-file must be given: the stack outputs toolsUrl and, in a file, toolsToken; both are empty " +
					"without profiler.enabled")
			}
			token, err := tools.ReadRemoteToken(tokenFile)
			if err != nil {
				return fmt.Errorf("--token-file: %w; write it with `pulumi stack output toolsToken --show-secrets`", err)
			}
			remote := tools.Remote{URL: url, CACertificate: caCertificate, Token: token}
			count, err := remote.Count(cmd.Context())
			if err != nil {
				return err
			}
			progress.New(cmd.ErrOrStderr()).Printf("%d tools answer at %s", count, url)
			return printToolsConfig(cmd, url, caCertificate, tokenFile)
		},
	}
	c.Flags().StringVar(&url, "url", "", "`URL` of the tools (stack output toolsUrl)")
	c.Flags().StringVar(&caCertificate, "ca-certificate", "", "`file` with the stack output caCertificate (default: this machine's CAs)")
	c.Flags().StringVar(&tokenFile, "token-file", "", "`file` with the stack output toolsToken")
	return c
}

// printToolsConfig prints the configuration in the form that clients share.
func printToolsConfig(cmd *cobra.Command, url, caCertificate, tokenFile string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	args := []string{"profile", "tools", "--tools-url", url}
	for _, given := range []struct{ flag, file string }{{"--ca-certificate-file", caCertificate}, {"--token-file", tokenFile}} {
		if given.file == "" {
			continue
		}
		path, err := filepath.Abs(given.file)
		if err != nil {
			return fmt.Errorf("find %s: %w", given.file, err)
		}
		args = append(args, given.flag, path)
	}
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	out := json.NewEncoder(cmd.OutOrStdout())
	out.SetIndent("", "  ")
	if err := out.Encode(map[string]map[string]server{"mcpServers": {toolsServer: {program, args}}}); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return nil
}
