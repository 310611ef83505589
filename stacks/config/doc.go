// Package config is the stack's configuration: one strict, typed value read
// from the Pulumi namespace emr-observatory.
//
// Defaults live here and nowhere else; Pulumi.yaml and docs/reference/config.md
// are rendered from the same struct. Parse and Validate report every fault at
// once, each with path, value, rule and remedy, before anything is registered.
//
// It is not a place for wiring (package stacks) nor for the limits of single
// AWS resources, which each component's Validate holds.
package config
