package catalog

import (
	"github.com/pulumi/pulumi-command/sdk/go/command/local"
)

// commandTypes lists the resource types of the command package by token.
func commandTypes() map[string]Type {
	return map[string]Type{
		"command:local:Command": typ(local.CommandArgs{}, nil),
	}
}
