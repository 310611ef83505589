// Package generate creates the resources that need no cloud: keys and
// certificates as pulumi-tls does, random values as pulumi-random does. They
// are real, so that programs can use them. It keeps no state and writes no
// files.
package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Tokens lists the resource types that Create accepts.
func Tokens() []string { return slices.Sorted(maps.Keys(generators())) }

// Create generates a resource of the type token: its id and its outputs, which
// include the inputs.
func Create(token string, inputs resource.PropertyMap) (id string, outputs resource.PropertyMap, err error) {
	generator, ok := generators()[token]
	if !ok {
		return "", nil, fmt.Errorf("generate %s: unknown resource type", token)
	}
	g, err := generator(property.Plain(inputs))
	if err != nil {
		return "", nil, fmt.Errorf("generate %s: %w", token, err)
	}
	return g.id, g.outputs(inputs), nil
}

// generated is what a generator adds to the inputs.
type generated struct {
	id      string
	values  map[string]any
	secrets []string // outputs that are marked secret
}

func (g generated) outputs(inputs resource.PropertyMap) resource.PropertyMap {
	out := resource.PropertyMap{}
	for k, v := range inputs {
		if !strings.HasPrefix(string(k), "__") {
			out[k] = v
		}
	}
	for k, v := range g.values {
		out[resource.PropertyKey(k)] = resource.NewPropertyValue(v)
	}
	for _, k := range g.secrets {
		key := resource.PropertyKey(k)
		if v, ok := out[key]; ok && !v.IsSecret() {
			out[key] = resource.MakeSecret(v)
		}
	}
	return out
}

// generator creates one resource from its plain inputs. The generators are named
// after their resource types.
type generator func(in map[string]any) (generated, error)

func generators() map[string]generator {
	return map[string]generator{
		"tls:index/privateKey:PrivateKey":               privateKey,
		"tls:index/certRequest:CertRequest":             certRequest,
		"tls:index/selfSignedCert:SelfSignedCert":       selfSignedCert,
		"tls:index/locallySignedCert:LocallySignedCert": locallySignedCert,
		"random:index/randomPassword:RandomPassword":    randomPassword,
		"random:index/randomId:RandomId":                randomID,
	}
}

// text returns an input that is a string, "" otherwise.
func text(in map[string]any, key string) string { s, _ := in[key].(string); return s }

// texts returns the strings of an input that is a list.
func texts(in map[string]any, key string) []string {
	list, _ := in[key].([]any)
	out := make([]string, 0, len(list))
	for _, e := range list {
		s, _ := e.(string)
		out = append(out, s)
	}
	return out
}
