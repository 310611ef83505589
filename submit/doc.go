// Package submit runs a Spark application as a step of an EMR cluster: it
// uploads the application, adds the step, follows it to its end, explains a
// failure from the step's own log, and leaves one span that stands for the
// step in the job's trace.
//
// It speaks only the AWS APIs, so it works alike on AWS and wherever the SDK's
// endpoint settings point. It starts no Spark itself and changes no cluster.
package submit
