package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits of what a cluster starts with.
const (
	// maxBootstrapActions: EMR takes 16, of which the first is the platform's (EMR
	// Management Guide, "Create bootstrap actions").
	maxBootstrapActions = 16 - 1
	maxActionArgument   = 10280 // characters (EMR API, ScriptBootstrapActionConfig)

	// maxMoreGroups: a network interface takes at most 16 security groups (VPC quotas),
	// of which one is EMR-managed and one opens the way to the control node.
	maxMoreGroups = 16 - nodeGroups

	// nodeGroups are the security groups of every node: EMR's own, and that which opens
	// the way to the control node.
	nodeGroups = 2

	// usualGroups is how many groups an interface takes unless the account's quota was
	// raised (VPC quotas, "Security groups per network interface").
	usualGroups = 5

	// maxClusterTags: EC2 takes 50 tags on an instance. The others are the stack's
	// (maxTags), the project's own two, platform.TagCluster and
	// platform.EMRManagedPolicyTag.
	maxClusterTags = 50 - maxTags - ownTags - 2
)

func launchRules() map[string]Rule {
	root := Rule{Text: fmt.Sprintf("must be %d to %d, or 0", minRootGiB, maxRootGiB), Holds: func(v any) bool {
		n, ok := v.(int)
		return ok && (n == 0 || inRange(n, minRootGiB, maxRootGiB))
	}}
	const arn = `^arn:aws[a-z-]*:iam::\d{12}:`
	return map[string]Rule{
		"rootVolume":    root,
		"roleArn":       pattern(arn+`role/([\w+=,.@-]+/)*[\w+=,.@-]{1,64}$`, "the ARN of an IAM role").optional(),
		"profileArn":    pattern(arn+`instance-profile/([\w+=,.@-]+/)*[\w+=,.@-]{1,128}$`, "the ARN of an IAM instance profile").optional(),
		"securityGroup": pattern(groupID, fmt.Sprintf("%s, %d at most", groupText, maxMoreGroups)),
		"senderGroup":   pattern(groupID, groupText),
		"clusterTags": textOnly(fmt.Sprintf("must be at most %d tags, with keys of 1 to %d and values of at most %d characters: "+
			"letters, digits, spaces or _.:/=+-@, without the prefix %s", maxClusterTags, maxTagKey, maxTagValue, awsPrefix)),
		"bootstrapActions": textOnly(fmt.Sprintf("must be at most %d: EMR takes one more, which is the platform's", maxBootstrapActions)),
		"actionName":       predicate(isEMRName, fmt.Sprintf("1 to %d characters without < > $ | ` and line breaks", platform.MaxStepName)),
		"actionPath": pattern(`^(s3://`+bucketPattern+`/[^\s/](\S*[^\s/])?|file:///\S+)$`,
			"the s3:// URI of an object "+bucketText+", or file:/// and a path that the image has, without blanks").ofBucket().
			with("", "upload the script, and name it s3://bucket/key"),
		"actionArgument": textOnly(fmt.Sprintf("must be at most %d characters each", maxActionArgument)),
	}
}

// Ids of security groups (EC2 API Reference, SecurityGroup).
const (
	groupID   = `^sg-([0-9a-f]{8}|[0-9a-f]{17})$`
	groupText = "a security group id (sg- and 8 or 17 hexadecimal digits)"
)

// BootstrapAction is a script that runs on each node before applications are installed.
type BootstrapAction struct {
	Name string   `json:"name" rule:"actionName"`
	Path string   `json:"path" rule:"actionPath"`
	Args []string `json:"args" rule:"actionArgument"`
}

// Help describes the keys, for documents.
func (BootstrapAction) Help() map[string]string {
	return map[string]string{
		"name": "Name in EMR's console, each only once.",
		"path": "The script. Nodes may read this object; if a key of your own encrypts it, name that key in access.kmsKeys. " +
			"An edit of its content alone changes nothing: nodes that start later run the new one, " +
			"unless the path has a version.",
		"args": "Its arguments.",
	}
}

// SetDefaults sets an action without arguments.
func (b *BootstrapAction) SetDefaults() { *b = BootstrapAction{Args: []string{}} }

func (c Cluster) checkBootstrapActions(l *violation.List, path string) {
	l.Require(len(c.BootstrapActions) <= maxBootstrapActions, path, len(c.BootstrapActions), rules["bootstrapActions"].Text,
		"join some into one script")
	names := map[string]bool{platform.Name: true}
	for i, b := range c.BootstrapActions {
		at := fmt.Sprintf("%s[%d]", path, i)
		checkFields(l, at, b)
		l.Require(!names[b.Name], at+".name", b.Name,
			"must differ from the others and from "+platform.Name+": logs name actions by it", "rename it")
		names[b.Name] = true
		for j, a := range b.Args {
			l.Require(len([]rune(a)) <= maxActionArgument, fmt.Sprintf("%s.args[%d]", at, j), len([]rune(a)),
				rules["actionArgument"].Text, "read it from a file")
		}
	}
}

// checkGroups checks the number of additional security groups.
func (c Cluster) checkGroups(l *violation.List, path string) {
	for list, groups := range map[string][]string{"masterSecurityGroups": c.MasterSecurityGroups, "coreSecurityGroups": c.CoreSecurityGroups} {
		at, n := path+"."+list, len(groups)
		l.Require(n <= maxMoreGroups, at, n, rules["securityGroup"].Text, "join some into one group")
		l.Warn(n <= usualGroups-nodeGroups || n > maxMoreGroups, at, n, fmt.Sprintf(
			"should be %d at most: with the %d that every node has, an interface would have %d, and EC2 takes %d unless the "+
				"account's quota is raised",
			usualGroups-nodeGroups, nodeGroups, n+nodeGroups, usualGroups),
			"join some into one group, or have VPC's quota \"Security groups per network interface\" raised")
	}
}

// checkClusterTags adds the violations of a cluster's tags to l.
func checkClusterTags(l *violation.List, path string, tags map[string]string) {
	text := rules["clusterTags"].Text
	l.Require(len(tags) <= maxClusterTags, path, len(tags), text, "remove some")
	checkEachTag(l, path, tags, text)
}

// oneLine matches values that fit into a line of a properties file.
var oneLine = regexp.MustCompile(`^[^\r\n]*$`)

// checkProperties checks names and values of Java properties.
func checkProperties(l *violation.List, path string, properties map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		v, at := properties[k], path+"."+k
		l.Require(k != "" && oneLine.MatchString(k) && oneLine.MatchString(v), at, v, "must be a property of one line", "remove the line break")
	}
}
