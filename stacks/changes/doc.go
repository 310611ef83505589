// Package changes summarizes a preview by the real engine in an operator's
// terms: what is updated in place, restarted, replaced or deleted, and which of
// these resources hold data that would be lost. A Guard refuses a plan that loses
// data, unless the operator has accepted the loss.
//
// The package only reads plans. The engine and the providers decide what
// happens to a resource, and nothing is applied here.
package changes
