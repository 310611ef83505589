// Package record answers for resources that have no real part behind them: ids
// and computed outputs in the shape that AWS, Kubernetes and Grafana give
// them, so that what a program builds on top (ARNs in policies, addresses in
// arguments) is well formed.
//
// It creates nothing and keeps no state of its own: the engine's state is the
// only one. An Account remembers what the engine has shown of it during one
// run, to allot addresses once and refuse names that are taken.
package record

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// Resource is what is known of a resource when its outputs are wanted.
type Resource struct {
	URN     string
	Type    string
	Name    string // logical
	ID      string // "" before it exists
	Inputs  resource.PropertyMap
	Removed []string             // inputs that were set before and no longer are
	Outputs resource.PropertyMap // last state; nil before it exists
}

// Outputs gives a resource's id and outputs: its inputs, what it had before,
// and what the service would add. An error is the service's refusal.
func (a *Account) Outputs(r Resource) (string, resource.PropertyMap, error) {
	d := &draft{account: a, r: r, in: catalog.Plain(r.Inputs), out: resource.PropertyMap{}, id: r.ID}
	for k, v := range r.Outputs {
		d.out[k] = v
	}
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

// draft is an answer in the making.
type draft struct {
	account *Account
	r       Resource
	in      map[string]any
	out     resource.PropertyMap
	id      string
}

func (d *draft) fill() error {
	if strings.HasPrefix(d.r.Type, "kubernetes:") {
		d.kubernetes()
		return nil
	}
	f, ok := fillers()[d.r.Type]
	if !ok {
		d.identify(randomHex(20))
	} else if err := f(d); err != nil {
		return err
	}
	if strings.HasPrefix(d.r.Type, "aws:") {
		d.tags()
	}
	return nil
}

// filler completes a draft of one type.
type filler func(d *draft) error

// fillers gives the table of all types with more than inputs to show.
func fillers() map[string]filler { return table }

//nolint:gochecknoglobals // the table, joined once
var table = func() map[string]filler {
	out := map[string]filler{}
	for _, part := range []map[string]filler{networkFillers(), machineFillers(), identityFillers(), storageFillers(), emrFillers(), grafanaFillers()} {
		for k, v := range part {
			out[k] = v
		}
	}
	return out
}()

// identify gives the id that a new resource gets; an existing one keeps its own.
func (d *draft) identify(id string) {
	if d.id == "" {
		d.id = id
	}
}

// otherwise sets an output that the program did not set and that is not there
// from before.
func (d *draft) otherwise(key string, value any) {
	k := resource.PropertyKey(key)
	if v, set := d.out[k]; !set || v.IsNull() {
		d.out[k] = resource.NewPropertyValue(value)
	}
}

// always sets an output that follows from the inputs every time.
func (d *draft) always(key string, value any) {
	d.out[resource.PropertyKey(key)] = resource.NewPropertyValue(value)
}

// text gives an input, or else an output, that is a known string.
func (d *draft) text(key string) string {
	if s, ok := d.in[key].(string); ok {
		return s
	}
	v, _ := catalog.Reveal(d.out[resource.PropertyKey(key)])
	if v.IsString() {
		return v.StringValue()
	}
	return ""
}

// arn is a regional ARN of this account.
func (d *draft) arn(service, rest string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, d.account.Region(), d.account.ID, rest)
}

// global is an ARN of a service without regions.
func (d *draft) global(service, rest string) string {
	return fmt.Sprintf("arn:aws:%s::%s:%s", service, d.account.ID, rest)
}

// tags adds what the provider's default tags make of a resource's own.
func (d *draft) tags() {
	if d.has("tagsAll") {
		d.always("tagsAll", AllTags(d.in, d.account.DefaultTags()))
	}
}

// has reports whether the type has an output of that name.
func (d *draft) has(output string) bool {
	_, ok := catalog.Fields(awsTypes[d.r.Type].State)[output]
	return ok
}

//nolint:gochecknoglobals // read-only
var awsTypes = catalog.Packages()["aws"].Resources

// AllTags joins a resource's own tags over the provider's default ones.
func AllTags(inputs map[string]any, defaults map[string]string) map[string]any {
	all := map[string]any{}
	for k, v := range defaults {
		all[k] = v
	}
	own, _ := inputs["tags"].(map[string]any)
	for k, v := range own {
		all[k] = v
	}
	return all
}

const (
	hexDigits   = "0123456789abcdef"
	upperDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func randomHex(n int) string { return random(hexDigits, n) }

// ec2ID is an id as EC2 gives since 2018: prefix and 17 hexadecimal digits.
func ec2ID(prefix string) string { return prefix + randomHex(17) }

// emrID is an id as EMR gives: prefix and 13 upper-case letters and digits.
func emrID(prefix string) string { return prefix + random(upperDigits, 13) }

// iamID is a unique id as IAM gives: prefix and 17 upper-case characters.
func iamID(prefix string) string { return prefix + random(upperDigits, 17) }

func uuid() string {
	return fmt.Sprintf("%s-%s-4%s-%s%s-%s", randomHex(8), randomHex(4), randomHex(3), random("89ab", 1), randomHex(3), randomHex(12))
}

func random(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		// crypto/rand never fails on the platforms that Go supports.
		i, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		b.WriteByte(alphabet[i.Int64()])
	}
	return b.String()
}
