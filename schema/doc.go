// Package schema is the configuration's contract: one type per section with
// its keys, defaults, limits and checks. Decoding, references and components
// all use it, so that each limit, pattern and list of values exists once.
//
// Tags: `json` is the key, `rule` the name of a Rule. Help describes the keys.
// Validate methods report every violation at once, without calling AWS: only a
// preview finds out whether a zone or a subnet exists.
//
// The package does not depend on Pulumi. The provider servers of package simulator
// have limits of their own, against which tests/schema checks those of this
// package.
package schema
