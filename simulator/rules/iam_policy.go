package rules

import "regexp"

// policyStatements decodes a policy and returns its statements. It reports
// whether the policy has only known keys, a known version and at least one
// statement, and its statements are valid.
func policyStatements(s string) ([]object, bool) {
	o, ok := jsonObject(s)
	if !ok || !hasOnlyKeys(o, "Version", "Id", "Statement") {
		return nil, false
	}
	if v, set := stringField(o, "Version"); set && v != "2012-10-17" && v != "2008-10-17" {
		return nil, false
	}
	var list []object
	switch st := o["Statement"].(type) {
	case object:
		list = []object{st}
	case []any:
		for _, e := range st {
			item, ok := e.(object)
			if !ok {
				return nil, false
			}
			list = append(list, item)
		}
	}
	return list, len(list) > 0 && validStatements(list)
}

var sidPattern = regexp.MustCompile(`^[A-Za-z0-9]*$`)

// validStatements requires known keys, an effect, one of Action and NotAction,
// and unique alphanumeric Sids.
func validStatements(list []object) bool {
	seen := map[string]bool{}
	for _, st := range list {
		if !hasOnlyKeys(st, "Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition") {
			return false
		}
		if effect, _ := stringField(st, "Effect"); effect != "Allow" && effect != "Deny" {
			return false
		}
		if !exactlyOne(st, "Action", "NotAction") {
			return false
		}
		if id, ok := stringField(st, "Sid"); ok && id != "" {
			if seen[id] || !sidPattern.MatchString(id) {
				return false
			}
			seen[id] = true
		}
	}
	return true
}

// everyStatement accepts a valid policy whose statements all satisfy f.
func everyStatement(s string, f func(st object) bool) bool {
	list, ok := policyStatements(s)
	for _, st := range list {
		ok = ok && f(st)
	}
	return ok
}

func isTrustPolicy(s string) bool {
	return everyStatement(s, func(st object) bool {
		return exactlyOne(st, "Principal", "NotPrincipal") && !isSet(st, "Resource") && !isSet(st, "NotResource")
	})
}

func isIdentityPolicy(s string) bool {
	return everyStatement(s, func(st object) bool {
		return !isSet(st, "Principal") && !isSet(st, "NotPrincipal") && exactlyOne(st, "Resource", "NotResource")
	})
}

func isResourcePolicy(s string) bool {
	return everyStatement(s, func(st object) bool {
		return exactlyOne(st, "Principal", "NotPrincipal") && exactlyOne(st, "Resource", "NotResource")
	})
}
