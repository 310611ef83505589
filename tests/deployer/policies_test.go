package deployer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// MaxPolicySize is what IAM allows a managed policy, in characters without white
// space (IAM User Guide, "IAM and AWS STS quotas").
const MaxPolicySize = 6144

// Policy is a managed policy of the deploying identity.
type Policy struct {
	Name string
	JSON []byte
}

// Size returns the policy's size as IAM counts it.
func (p Policy) Size() int {
	size := 0
	for _, r := range string(p.JSON) {
		if !unicode.IsSpace(r) {
			size++
		}
	}
	return size
}

// Names are the logical names from which Pulumi makes the physical ones, by
// appending a hyphen and random characters.
type Names struct{ Roles, Profiles, Policies, Buckets []string }

type statement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// Policies splits what the rows need into as few policies as hold it, service by
// service in alphabetical order.
func Policies(rows []Row, names Names) ([]Policy, error) {
	var policies []Policy
	var pending []statement
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		p, err := render(len(policies)+1, pending)
		policies = append(policies, p)
		return err
	}
	for _, s := range statements(rows, names) {
		grown, err := render(0, append(slices.Clone(pending), s))
		if err != nil {
			return nil, err
		}
		if grown.Size() > MaxPolicySize {
			if err := flush(); err != nil {
				return nil, err
			}
			pending = nil
		}
		pending = append(pending, s)
	}
	return policies, flush()
}

func render(number int, statements []statement) (Policy, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", statements})
	if err != nil {
		return Policy{}, fmt.Errorf("render policy %d: %w", number, err)
	}
	return Policy{fmt.Sprintf("deployer-policy-%d", number), out.Bytes()}, nil
}

// statements returns one statement for each service, and one for each action whose
// abuse gives more than the stacks need.
func statements(rows []Row, names Names) []statement {
	services := map[string][]string{}
	var passes, links, lists bool
	for _, r := range rows {
		for _, action := range r.Actions() {
			service, _, _ := strings.Cut(action, ":")
			switch action {
			case "iam:PassRole":
				passes = true
			case "iam:CreateServiceLinkedRole":
				links = true
			case "iam:ListRoles":
				lists = true
			default:
				services[service] = append(services[service], action)
			}
		}
	}
	var out []statement
	for _, service := range slices.Sorted(maps.Keys(services)) {
		actions := services[service]
		slices.Sort(actions)
		out = append(out, statement{Sid: service, Effect: "Allow", Action: slices.Compact(actions), Resource: names.resources(service)})
	}
	if passes {
		out = append(out, statement{
			Sid: "PassRole", Effect: "Allow", Action: []string{"iam:PassRole"}, Resource: arns("arn:aws:iam::*:role/", "-*", names.Roles),
			Condition: equals("iam:PassedToService", "application-autoscaling.amazonaws.com", "ec2.amazonaws.com",
				"elasticmapreduce.amazonaws.com", "scheduler.amazonaws.com"),
		})
	}
	if lists { // has no resource type
		out = append(out, statement{Sid: "ListRoles", Effect: "Allow", Action: []string{"iam:ListRoles"}, Resource: []string{"*"}})
	}
	if links { // EMR creates its own at an account's first cluster
		out = append(out, statement{
			Sid: "ServiceLinkedRole", Effect: "Allow", Action: []string{"iam:CreateServiceLinkedRole"},
			Resource:  []string{"arn:aws:iam::*:role/aws-service-role/elasticmapreduce.amazonaws.com*/AWSServiceRoleForEMRCleanup*"},
			Condition: equals("iam:AWSServiceName", "elasticmapreduce.amazonaws.com"),
		})
	}
	return out
}

func equals(key string, values ...string) map[string]map[string][]string {
	return map[string]map[string][]string{"StringEquals": {key: values}}
}

// resources bounds the actions of services whose physical names begin with
// logical ones.
func (n Names) resources(service string) []string {
	switch service {
	case "iam":
		return slices.Concat(arns("arn:aws:iam::*:role/", "-*", n.Roles), arns("arn:aws:iam::*:instance-profile/", "-*", n.Profiles),
			arns("arn:aws:iam::*:policy/", "-*", n.Policies))
	case "s3":
		return append(arns("arn:aws:s3:::", "-*", n.Buckets), arns("arn:aws:s3:::", "-*/*", n.Buckets)...)
	}
	return []string{"*"}
}

func arns(prefix, suffix string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = prefix + name + suffix
	}
	return out
}
