package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"sort"
)

// policyDocument renders a policy as the provider does: keys in the API's
// spelling, single values as strings.
func policyDocument(_ *Account, in map[string]any) (result, error) {
	version, _ := in["version"].(string)
	doc := result{"Version": cmp.Or(version, "2012-10-17")}
	var list []any
	statements, _ := in["statements"].([]any)
	for _, e := range statements {
		s, _ := e.(map[string]any)
		list = append(list, statement(s))
	}
	doc["Statement"] = list
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	short, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return result{"id": fmt.Sprint(len(text)), "json": string(text), "minifiedJson": string(short)}, nil
}

// statement renders one statement.
func statement(in map[string]any) result {
	effect, _ := in["effect"].(string)
	out := result{"Effect": cmp.Or(effect, "Allow")}
	if sid, _ := in["sid"].(string); sid != "" {
		out["Sid"] = sid
	}
	for key, name := range map[string]string{
		"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource",
	} {
		if v, ok := in[key].([]any); ok && len(v) > 0 {
			out[name] = singleOrList(v)
		}
	}
	if p := principals(in["principals"]); p != nil {
		out["Principal"] = p
	}
	if p := principals(in["notPrincipals"]); p != nil {
		out["NotPrincipal"] = p
	}
	conditions, _ := in["conditions"].([]any)
	for _, e := range conditions {
		c, _ := e.(map[string]any)
		test, _ := c["test"].(string)
		variable, _ := c["variable"].(string)
		values, _ := c["values"].([]any)
		all, ok := out["Condition"].(result)
		if !ok {
			all = result{}
			out["Condition"] = all
		}
		one, ok := all[test].(result)
		if !ok {
			one = result{}
			all[test] = one
		}
		one[variable] = singleOrList(values)
	}
	return out
}

// principals renders principals or notPrincipals; nil if there are none.
func principals(v any) any {
	list, _ := v.([]any)
	out := result{}
	for _, e := range list {
		p, _ := e.(map[string]any)
		kind, _ := p["type"].(string)
		ids, _ := p["identifiers"].([]any)
		if kind == "*" {
			return "*"
		}
		out[kind] = singleOrList(ids)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// singleOrList returns the only value, or the values in the provider's order.
func singleOrList(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	sorted := append([]any{}, values...)
	sort.Slice(sorted, func(i, j int) bool { return fmt.Sprint(sorted[i]) > fmt.Sprint(sorted[j]) })
	return sorted
}
