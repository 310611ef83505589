// Package emrapi is the EMR HTTP API of the local cloud: the clusters,
// instances and steps that the local cloud runs, in the shapes and with the
// rules of Amazon's own endpoint, so that the AWS SDKs read it as they are.
//
// A Store holds the state and keeps it on disk. A Server answers requests on a
// Store and runs the steps, in order, through a StepRunner. The package starts
// no node and no process: whoever owns the nodes drives the Store and
// implements StepRunner and Terminator. It checks that a request is signed,
// not by whom.
package emrapi
