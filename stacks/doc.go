// Package stacks wires the components into the platform: configuration to
// component arguments, one explicit provider per package, outputs to the
// contract of package outputs. Program is the whole of it.
//
// It creates no resources of its own except the providers, leaves every decision
// to the components, and is imported only by main and the command line.
package stacks
