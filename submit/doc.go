// Package submit runs a Spark application as a step of an EMR cluster: it
// uploads the application, adds the step, follows it until it ends, explains a
// failure from the step's own log, and sends one span for the step in the job's
// trace.
//
// It speaks only the AWS APIs, so it works alike on AWS and wherever the SDK's
// endpoint settings point. It starts no Spark itself and changes no cluster.
package submit
