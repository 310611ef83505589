// Package record computes the outputs of resources that are only recorded: ids
// and computed outputs in the form that AWS, Kubernetes and Grafana return them,
// so that what a program derives from them (ARNs in policies, addresses in
// arguments) is well-formed.
//
// It creates nothing and stores nothing: the engine's state is the only one. An
// Account remembers the resources of the engine's requests during a run, to allocate
// each address once and to refuse names that exist.
package record

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"math/big"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Resource is a resource whose outputs Account.Outputs computes.
type Resource struct {
	URN     string
	Type    string
	Name    string // logical
	ID      string // "" before it exists
	Inputs  resource.PropertyMap
	Removed []string             // inputs that were set before and no longer are
	Outputs resource.PropertyMap // last state; nil before it exists
}

// Outputs returns the id and outputs of a resource: its inputs, its previous
// outputs, and what the service would add. An error means that the service
// would refuse the request; it reads like the service's.
func (a *Account) Outputs(r Resource) (string, resource.PropertyMap, error) {
	d := &draft{account: a, r: r, in: property.Plain(r.Inputs), out: resource.PropertyMap{}, id: r.ID}
	maps.Copy(d.out, r.Outputs)
	for _, k := range r.Removed {
		delete(d.out, resource.PropertyKey(k))
	}
	for k, v := range r.Inputs {
		if !strings.HasPrefix(string(k), "__") {
			d.out[k] = v
		}
	}
	if err := d.fill(); err != nil {
		return "", nil, err
	}
	return d.id, d.out, nil
}

// draft is a resource whose outputs are being completed.
type draft struct {
	account *Account
	r       Resource
	in      map[string]any
	out     resource.PropertyMap
	id      string
}

// fill sets the id and the outputs.
func (d *draft) fill() error {
	if strings.HasPrefix(d.r.Type, "kubernetes:") {
		d.fillObject()
		return nil
	}
	if fill, ok := fillers()[d.r.Type]; !ok {
		d.setID(randomHex(20))
	} else if err := fill(d); err != nil {
		return err
	}
	if strings.HasPrefix(d.r.Type, "aws:") {
		d.setTags()
	}
	return nil
}

// filler completes a draft of one type, after which it is named.
type filler func(d *draft) error

// fillers covers all types whose outputs are more than their inputs.
func fillers() map[string]filler {
	out := networkFillers()
	for _, more := range []map[string]filler{
		firewallFillers(), instanceFillers(), identityFillers(), keyFillers(), storageFillers(), emrFillers(), scheduleFillers(), lakeFillers(),
		grafanaFillers(),
	} {
		maps.Copy(out, more)
	}
	return out
}

// setID sets the id of a new resource. An existing one keeps its id.
func (d *draft) setID(id string) {
	d.id = cmp.Or(d.id, id)
}

// setDefault sets an output that has no value yet, neither from the program nor
// from the last state.
func (d *draft) setDefault(key string, value any) {
	k := resource.PropertyKey(key)
	if v, set := d.out[k]; !set || v.IsNull() {
		d.out[k] = resource.NewPropertyValue(value)
	}
}

// setDefaults does so for several outputs.
func (d *draft) setDefaults(values result) {
	for key, value := range values {
		d.setDefault(key, value)
	}
}

// setEmpty sets outputs that have no value yet to "".
func (d *draft) setEmpty(keys ...string) {
	for _, key := range keys {
		d.setDefault(key, "")
	}
}

// set sets an output, also if it has a value.
func (d *draft) set(key string, value any) {
	d.out[resource.PropertyKey(key)] = resource.NewPropertyValue(value)
}

// text returns an input that is a known string, or else the output, or "".
func (d *draft) text(key string) string {
	if s, ok := d.in[key].(string); ok {
		return s
	}
	v, _ := property.Unwrap(d.out[resource.PropertyKey(key)])
	if v.IsString() {
		return v.StringValue()
	}
	return ""
}

// regionalARN returns an ARN of this account and region.
func (d *draft) regionalARN(service, rest string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, d.account.Region(), d.account.ID, rest)
}

// iamARN returns an ARN of this account in IAM, which has no regions.
func (d *draft) iamARN(rest string) string {
	return fmt.Sprintf("arn:aws:iam::%s:%s", d.account.ID, rest)
}

// setTags sets tagsAll: the resource's own tags and the provider's default tags.
func (d *draft) setTags() {
	if d.hasOutput("tagsAll") {
		d.set("tagsAll", AllTags(d.in, d.account.DefaultTags()))
	}
}

// hasOutput reports whether the type has an output of that name.
func (d *draft) hasOutput(output string) bool {
	_, ok := catalog.Fields(catalog.Packages()["aws"].Resources[d.r.Type].State)[output]
	return ok
}

// AllTags merges a resource's own tags into the provider's default tags.
func AllTags(inputs map[string]any, defaults map[string]string) map[string]any {
	all := map[string]any{}
	for k, v := range defaults {
		all[k] = v
	}
	own, _ := inputs["tags"].(map[string]any)
	maps.Copy(all, own)
	return all
}

const (
	hexDigits   = "0123456789abcdef"
	upperDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func randomHex(n int) string { return randomString(hexDigits, n) }

// newEC2ID returns an id in EC2's format since 2018: prefix and 17 hexadecimal digits.
func newEC2ID(prefix string) string { return prefix + randomHex(17) }

// newEMRID returns an id in EMR's format: prefix and 13 upper-case letters and digits.
func newEMRID(prefix string) string { return prefix + randomString(upperDigits, 13) }

// newIAMID returns a unique id in IAM's format: prefix and 17 upper-case characters.
func newIAMID(prefix string) string { return prefix + randomString(upperDigits, 17) }

func newUUID() string {
	return fmt.Sprintf("%s-%s-4%s-%s%s-%s", randomHex(8), randomHex(4), randomHex(3), randomString("89ab", 1), randomHex(3), randomHex(12))
}

func randomString(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		// crypto/rand never fails on the platforms that Go supports.
		i, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		b.WriteByte(alphabet[i.Int64()])
	}
	return b.String()
}
