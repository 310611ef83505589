package catalog

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// CheckShape compares properties with the struct type t at any depth and
// reports unknown names, missing required properties and values of the wrong
// kind. Values that are not known yet are accepted everywhere. required is
// Type.Required.
func CheckShape(t reflect.Type, values resource.PropertyMap, required ...string) []property.Violation {
	var c shapeCheck
	c.checkObject(t, values, "", required)
	property.Sort(c.violations)
	return c.violations
}

// Fields returns the property names of a struct type with their types.
func Fields(t reflect.Type) map[string]reflect.Type {
	t = indirect(t)
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("pulumi"), ",")
		if name != "" {
			out[name] = t.Field(i).Type
		}
	}
	return out
}

// indirect returns the type that a pointer type points to.
func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

type shapeCheck struct{ violations []property.Violation }

func (c *shapeCheck) report(path, value, rule, remedy string) {
	c.violations = append(c.violations, property.Violation{Path: path, Value: value, Rule: rule, Remedy: remedy})
}

// reportKind reports a value that is not of the wanted kind.
func (c *shapeCheck) reportKind(path string, v resource.PropertyValue, want string) {
	c.report(path, property.Kind(v), "must be "+want, "pass "+want)
}

func (c *shapeCheck) checkObject(t reflect.Type, values resource.PropertyMap, path string, required []string) {
	fields := Fields(t)
	for key, v := range values {
		name := string(key)
		if strings.HasPrefix(name, "__") {
			continue // metadata of the engine and of the Terraform bridge
		}
		f, known := fields[name]
		if !known {
			v, _ = property.Unwrap(v)
			c.report(property.Join(path, name), property.Kind(v), "unknown property"+suggest(name, fields), "correct its name or remove it")
			continue
		}
		c.checkValue(f, v, property.Join(path, name))
	}
	for name, f := range fields {
		if v, set := values[resource.PropertyKey(name)]; (!set || v.IsNull()) && isRequired(name, f, required) {
			c.report(property.Join(path, name), "missing", property.Missing, "set it")
		}
	}
}

// isRequired reports whether a field must be set. A plain value type always
// must; whether a slice, map or interface must is known only to the SDK's
// constructor.
func isRequired(name string, t reflect.Type, required []string) bool {
	if slices.Contains(required, name) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	default:
		return true
	}
}

// checkValue checks a value of any kind against its Go type.
func (c *shapeCheck) checkValue(t reflect.Type, v resource.PropertyValue, path string) {
	v, unknown := property.Unwrap(v)
	if unknown || v.IsNull() {
		return
	}
	t = indirect(t)
	switch t.Kind() {
	case reflect.Struct:
		if !v.IsObject() {
			c.reportKind(path, v, "an object")
			return
		}
		c.checkObject(t, v.ObjectValue(), path, nil)
	case reflect.Map:
		c.checkMap(t, v, path)
	case reflect.Slice:
		c.checkList(t, v, path)
	case reflect.Interface:
		c.checkAsset(t, v, path)
	default:
		c.checkScalar(t, v, path)
	}
}

func (c *shapeCheck) checkMap(t reflect.Type, v resource.PropertyValue, path string) {
	if !v.IsObject() {
		c.reportKind(path, v, "a map")
		return
	}
	for k, e := range v.ObjectValue() {
		c.checkValue(t.Elem(), e, property.Join(path, string(k)))
	}
}

func (c *shapeCheck) checkList(t reflect.Type, v resource.PropertyValue, path string) {
	if !v.IsArray() {
		c.reportKind(path, v, "a list")
		return
	}
	for i, e := range v.ArrayValue() {
		itemPath := path + "[" + strconv.Itoa(i) + "]"
		if e.IsNull() && t.Elem().Kind() != reflect.Pointer && t.Elem().Kind() != reflect.Interface {
			c.report(itemPath, "null", "must not be null", "remove the item or set its value")
			continue
		}
		c.checkValue(t.Elem(), e, itemPath)
	}
}

// checkAsset checks values of interface type: the SDKs name the interfaces of
// assets and archives; any other interface accepts every value.
func (c *shapeCheck) checkAsset(t reflect.Type, v resource.PropertyValue, path string) {
	switch t.Name() {
	case "Asset", "AssetOrArchive", "Archive":
		if !v.IsAsset() && !v.IsArchive() {
			c.reportKind(path, v, "an asset")
		}
	}
}

func (c *shapeCheck) checkScalar(t reflect.Type, v resource.PropertyValue, path string) {
	switch t.Kind() {
	case reflect.String:
		if !v.IsString() {
			c.reportKind(path, v, "a string")
		}
	case reflect.Bool:
		if !v.IsBool() {
			c.reportKind(path, v, "true or false")
		}
	case reflect.Int:
		if !v.IsNumber() || v.NumberValue() != math.Trunc(v.NumberValue()) {
			c.reportKind(path, v, "a whole number")
		}
	case reflect.Float64:
		if !v.IsNumber() {
			c.reportKind(path, v, "a number")
		}
	default:
		c.report(path, property.Kind(v), fmt.Sprintf("has a type that cannot be checked: %s", t), "add the type to package catalog")
	}
}

// suggest lists the known names that differ from an unknown one only in case or in
// their ending, as most typing errors do.
func suggest(name string, fields map[string]reflect.Type) string {
	var names []string
	for f := range fields {
		if strings.EqualFold(f, name) || strings.HasPrefix(f, name) || strings.HasPrefix(name, f) {
			names = append(names, f)
		}
	}
	if len(names) == 0 {
		return ""
	}
	sort.Strings(names)
	return " (known: " + strings.Join(names, ", ") + ")"
}
