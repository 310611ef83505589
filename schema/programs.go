package schema

import (
	"regexp"
	"slices"
	"strings"
)

// object matches the URI of an object that a policy can name: IAM reads *, ? and ${ as
// patterns (IAM User Guide, "Resources").
var object = regexp.MustCompile(`^s3[an]?://(` + bucketPattern + `)/([^*?"'$[:cntrl:]]*[^*?"'$/[:cntrl:]])$`)

// code matches objects that a command runs or loads, by their suffix.
var code = regexp.MustCompile(`(?i)\.(jar|py|zip|egg|whl|r|sh|sql|hql|q|pig)$`)

// loads are options whose value a command reads before its work begins (Spark,
// "Submitting applications"; EMR Release Guide, "Submit Hive work", "Submit Pig work").
func loads() []string {
	return []string{"--jars", "--py-files", "--files", "--archives", "--properties-file", "-f"}
}

// Programs returns the objects in S3 that the cluster runs, as s3:// URIs in order, each
// once: the scripts of bootstrap actions, the jars of steps, and what their commands load.
// Without them a bootstrap action ends the cluster, and a step fails, before any work.
// Objects that access lets jobs read are left out. scheduled are steps that schedules add.
func (c Cluster) Programs(scheduled ...Step) []string {
	var named []string
	for _, b := range c.BootstrapActions {
		named = append(named, b.Path)
	}
	for _, s := range slices.Concat(c.Steps, scheduled) {
		named = append(named, s.Jar)
		for i, a := range s.Args {
			loaded := i > 0 && slices.Contains(loads(), s.Args[i-1])
			for _, one := range strings.Split(a, ",") {
				one, _, _ = strings.Cut(one, "#") // the name that Spark gives an archive
				if loaded || code.MatchString(one) {
					named = append(named, one)
				}
			}
		}
	}
	var out []string
	for _, uri := range named {
		found := object.FindStringSubmatch(uri)
		if found == nil || !isBucket(found[1]) {
			continue
		}
		uri = "s3://" + found[1] + "/" + found[2]
		readable := func(prefix string) bool { return strings.HasPrefix(uri, prefix) }
		if !slices.ContainsFunc(c.Access.S3Read, readable) && !slices.ContainsFunc(c.Access.S3Write, readable) {
			out = append(out, uri)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
