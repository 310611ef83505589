// Package submit runs a Spark application as a step of an EMR cluster: it
// uploads the application, adds the step, follows it until it ends, and explains a
// failure from the step's own log. The step's arguments carry the ids of its trace; its
// span comes from the control node (package steptelemetry).
//
// It speaks only the AWS APIs, so it works alike on AWS and wherever the SDK's
// endpoint settings point. It starts no Spark itself and changes no cluster.
package submit
