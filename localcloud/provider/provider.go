// Package provider serves the Pulumi provider protocol for the packages that
// the platform's program uses: aws, kubernetes, grafana, tls, random, command.
// The engine and the program are the real ones; only the providers differ.
//
// Every request is checked against the SDK's own types and a table of the
// services' rules, and changes are judged as the real providers judge them.
// What stands behind a resource is a Handler: keys, certificates, passwords
// and commands are real here, other parts are registered by the local cloud,
// and all else is recorded, which means well-formed ids and outputs and
// nothing behind them.
//
// One server stands for one configuration of its package: of two provider
// resources of the same package in one program, the one configured last rules.
package provider

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/record"
)

// Request is one demand of the engine on one resource.
type Request struct {
	URN  string
	Type string // aws:emr/cluster:Cluster
	Name string // logical name
	ID   string // "" on create

	Inputs    resource.PropertyMap // checked; secrets are still marked
	OldInputs resource.PropertyMap // update only
	Outputs   resource.PropertyMap // last state, on read, update and delete
	Preview   bool                 // never true for a Handler: previews touch nothing

	// Account is what the engine has shown of the account in this run; never
	// nil for a Handler. It allots addresses in subnets.
	Account *record.Account
}

// Recorded gives what the resource would have without anything behind it: an
// id and outputs in the service's shape, or the service's refusal. A Handler
// starts from it and overwrites what it knows better.
func (r Request) Recorded() (Result, error) {
	account := r.Account
	if account == nil {
		account = record.NewAccount("", "")
	}
	id, outputs, err := account.Outputs(r.resource())
	if err != nil {
		return Result{}, err
	}
	return Result{ID: id, Outputs: outputs}, nil
}

func (r Request) resource() record.Resource {
	var removed []string
	for k := range r.OldInputs {
		if _, still := r.Inputs[k]; !still && !strings.HasPrefix(string(k), "__") {
			removed = append(removed, string(k))
		}
	}
	return record.Resource{URN: r.URN, Type: r.Type, Name: r.Name, ID: r.ID, Inputs: r.Inputs, Removed: removed, Outputs: r.Outputs}
}

// Result is a resource as it now is. ID is read on create only.
type Result struct {
	ID      string
	Outputs resource.PropertyMap
}

// Handler puts a real part behind a resource type. Requests may come at the
// same time for different resources. A call may take long; it must end when
// its context does.
type Handler interface {
	Create(ctx context.Context, r Request) (Result, error)
	// Read reports false where the resource no longer exists.
	Read(ctx context.Context, r Request) (Result, bool, error)
	Update(ctx context.Context, r Request) (Result, error)
	Delete(ctx context.Context, r Request) error
}

// PartialError is returned by Create and Update where the resource exists but
// did not become what was asked for: the engine keeps it and replaces or
// retries it next time.
type PartialError struct {
	Result  Result
	Reasons []string // why, one sentence each
}

// Error joins the reasons.
func (e *PartialError) Error() string {
	return fmt.Sprintf("resource %s exists but did not initialise: %s", e.Result.ID, strings.Join(e.Reasons, "; "))
}

// Invoke answers one function.
type Invoke func(ctx context.Context, args resource.PropertyMap) (resource.PropertyMap, error)

// Options say what stands behind the providers.
type Options struct {
	Region    string             // "" = us-east-1; a configured aws provider rules
	AccountID string             // "" = 000000000000
	Handlers  map[string]Handler // by resource type token
	Invokes   map[string]Invoke  // by function token
	Command   CommandRunner      // nil = run commands on this machine
	Log       *slog.Logger       // nil = none
	// KeepGoing lets faulty resources pass, so that one run meets the faults of
	// all; they are in Servers.Faults. Only for runs with nothing real behind.
	KeepGoing bool
}

// Recording is the Handler of everything without a part of its own.
type Recording struct{}

// Create implements Handler.
func (Recording) Create(_ context.Context, r Request) (Result, error) { return r.Recorded() }

// Read implements Handler: what is recorded is what is there.
func (Recording) Read(_ context.Context, r Request) (Result, bool, error) {
	return Result{ID: r.ID, Outputs: r.Outputs}, true, nil
}

// Update implements Handler.
func (Recording) Update(_ context.Context, r Request) (Result, error) { return r.Recorded() }

// Delete implements Handler. It refuses what AWS refuses.
func (Recording) Delete(_ context.Context, r Request) error { return Refusal(r) }

// Refusal is AWS's own no to the deletion of a resource, nil where it has
// none. Handlers of such types must ask it before they delete.
func Refusal(r Request) error {
	v := r.Outputs["terminationProtection"]
	if r.Type == "aws:emr/cluster:Cluster" && v.IsBool() && v.BoolValue() {
		return fmt.Errorf("terminate cluster %s: ValidationException: Could not shut down one or more job flows since they are termination protected; set terminationProtection to false and update first", r.ID)
	}
	if r.Type == "aws:ec2/instance:Instance" {
		if v := r.Outputs["disableApiTermination"]; v.IsBool() && v.BoolValue() {
			return fmt.Errorf("terminate instance %s: OperationNotPermitted: the instance may not be terminated; set disableApiTermination to false and update first", r.ID)
		}
	}
	return nil
}
