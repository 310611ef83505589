package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
)

// credentialsCommand is what AWS clients run for the key pair of the local account: the profile
// that localcloud.WriteProfile writes names it as credential_process, so that the key pair stays
// where it is, and is in no argument. The output is that of "Sourcing credentials with an external
// process in the AWS CLI" (AWS CLI User Guide).
func credentialsCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "credentials", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := s.stateDir()
			if err != nil {
				return err
			}
			if _, err := localcloud.Find(state); err != nil {
				return fmt.Errorf("find the local cloud whose key pair is asked for: %w", err)
			}
			c, err := localcloud.LoadCredentials(state)
			if err != nil {
				return err
			}
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
				"Version": 1, "AccessKeyId": c.AccessKeyID, "SecretAccessKey": c.SecretAccessKey,
			})
			if err != nil {
				return fmt.Errorf("print the key pair: %w", err)
			}
			return nil
		},
	}
}
