// Package deployer lists what the identity that runs `pulumi up` may do, by
// resource type and function of the stacks. Its tests record every stack,
// require a row for each type and function of AWS, and render
// docs/reference/deployer-policy.md with one JSON file for each IAM policy.
package deployer
