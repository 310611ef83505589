// Package schema tests that the providers of package simulator accept every
// configuration that package schema accepts.
package schema
