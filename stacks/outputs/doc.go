// Package outputs is the stack's contract with other stacks and with the
// command line: the names, the shape and the version of what it exports.
//
// Another team's program imports only this package and calls Refer.
//
// Scalars are also outputs of their own, for people (`pulumi stack output
// grafanaUrl`). Everything that is not secret is in one versioned object, which
// Refer, Read and FromMap decode and check. Secrets are separate outputs and never
// in Outputs, so that an Outputs may be printed.
//
// The package does not depend on the resources behind the values.
package outputs
