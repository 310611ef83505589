// Package stacks wires the components into the platform: configuration to
// component arguments, one explicit provider per package, outputs to the
// contract of package outputs. Program is the whole of it.
//
// It makes no resource of its own but the providers, decides nothing that a
// component could decide, and is imported only by main and the command line.
package stacks
