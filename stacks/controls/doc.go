// Package controls is what security scanners ask of an EMR platform, as rules
// over the resources that the whole program registers: checkov, trivy, Security
// Hub, prowler, AWS Config and Control Tower by their ids, and the platform's
// own rules as "observatory/…". What is not met is an exception with its reason,
// or a failing test. It also holds the table of what each role may do and why.
//
// The scanners themselves read Terraform or a live account, not a Pulumi
// program. The package judges what is asked of AWS; it neither asks AWS nor
// changes anything, and only tests and the generated reference use it.
package controls
