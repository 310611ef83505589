package rules

import "regexp"

// statements decodes a policy and gives its statements where the frame is
// right: known keys, a version, at least one statement, unique Sids.
func statements(s string) ([]object, bool) {
	o, ok := jsonObject(s)
	if !ok || !only(o, "Version", "Id", "Statement") {
		return nil, false
	}
	if v, set := str(o, "Version"); set && v != "2012-10-17" && v != "2008-10-17" {
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
	return list, len(list) > 0 && framed(list)
}

//nolint:gochecknoglobals // compiled once
var sid = regexp.MustCompile(`^[A-Za-z0-9]*$`)

func framed(list []object) bool {
	seen := map[string]bool{}
	for _, st := range list {
		if !only(st, "Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition") {
			return false
		}
		if effect, _ := str(st, "Effect"); effect != "Allow" && effect != "Deny" {
			return false
		}
		if !exactlyOne(st, "Action", "NotAction") {
			return false
		}
		if id, ok := str(st, "Sid"); ok && id != "" {
			if seen[id] || !sid.MatchString(id) {
				return false
			}
			seen[id] = true
		}
	}
	return true
}

func every(s string, f func(st object) bool) bool {
	list, ok := statements(s)
	for _, st := range list {
		ok = ok && f(st)
	}
	return ok
}

func trustPolicy(s string) bool {
	return every(s, func(st object) bool {
		return exactlyOne(st, "Principal", "NotPrincipal") && !isSet(st, "Resource") && !isSet(st, "NotResource")
	})
}

func identityPolicy(s string) bool {
	return every(s, func(st object) bool {
		return !isSet(st, "Principal") && !isSet(st, "NotPrincipal") && exactlyOne(st, "Resource", "NotResource")
	})
}

func resourcePolicyHolds(s string) bool {
	return every(s, func(st object) bool {
		return exactlyOne(st, "Principal", "NotPrincipal") && exactlyOne(st, "Resource", "NotResource")
	})
}
