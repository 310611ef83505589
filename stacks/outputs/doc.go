// Package outputs is the stack's contract with other stacks and with the
// command line: the names, the shape and the version of what it exports.
//
// A program of another team imports this package alone and calls Refer.
//
// Scalars are exported flat for people (`pulumi stack output grafanaUrl`);
// everything that is no secret is also in one versioned object, which Refer,
// Read and FromMap decode and check. Secrets are outputs of their own and never in
// Outputs, so that an Outputs may be printed.
//
// It knows nothing of the resources behind the values.
package outputs
