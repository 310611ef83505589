package platform

// Tags of every AWS resource of a stack, set by the AWS provider. What finds
// resources by tag (YACE's searchTags) uses these.
const (
	TagProject = "observatory:project" // Project
	TagStack   = "observatory:stack"   // the Pulumi stack's name
)
