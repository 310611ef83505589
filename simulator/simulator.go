// Package simulator serves the Pulumi provider protocol for the packages that
// the platform's program uses: aws, kubernetes, grafana, tls, random, command.
// The engine and the program are real; only the providers are simulated.
//
// Inputs are checked against the SDK's own types and a table of the services'
// rules. Changes are classified as the real providers classify them. A Handler
// backs a resource type: keys, certificates, random values and commands are
// real, callers register further handlers, and every other resource is only
// recorded: it has well-formed ids and outputs, but nothing real exists for it.
//
// A server holds one configuration per package: if a program has two provider
// resources of the same package, the one configured last applies to both.
//
// The packages below it: catalog (the SDK's types), rules (what
// services require of values), autoname (generated names), diff (update or replace),
// record (outputs of recorded resources), generate and command (the real ones),
// property (reading values), rehearse (a stack's life on these providers).
package simulator
