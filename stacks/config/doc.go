// Package config reads the stack's configuration from the Pulumi namespace
// emr-observatory into package schema's types, strictly: an unknown key, a
// wrong type and a broken rule are reported before anything is registered.
//
// Pulumi.yaml and docs/reference/config.md are rendered from the same types.
// Keys, defaults and limits are in package schema; wiring is in package stacks.
package config
