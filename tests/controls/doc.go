// Package controls checks the resources that the program registers against the
// controls of security scanners for an EMR platform: checkov, trivy, Security Hub,
// prowler, AWS Config and Control Tower by their ids, and the platform's own rules as
// "observatory/…". A violation needs an exception with a reason, or a test fails.
// The package also lists every action that the program's policies allow, and why.
//
// It exists because the scanners read Terraform or a live account, not a Pulumi
// program. It makes no requests to AWS. All of it is in test files: only its own tests
// use it, which also render the reference.
package controls
