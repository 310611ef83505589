package simulator

import (
	"context"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/record"
)

// Handler backs one resource type. Requests for different resources may arrive
// concurrently. A call may take long; it must end when its context does.
type Handler interface {
	Create(ctx context.Context, r Request) (Result, error)
	// Read reports false if the resource no longer exists.
	Read(ctx context.Context, r Request) (Result, bool, error)
	Update(ctx context.Context, r Request) (Result, error)
	Delete(ctx context.Context, r Request) error
}

// Request is one operation of the engine on one resource. Previews never reach
// a Handler.
type Request struct {
	URN  string
	Type string // aws:emr/cluster:Cluster
	Name string // logical name
	ID   string // "" on create

	Inputs    resource.PropertyMap // checked; secrets are still marked
	OldInputs resource.PropertyMap // on update
	Outputs   resource.PropertyMap // last state; on read, update and delete

	// Account is what the server knows of the account from the engine's requests in
	// this run. It allocates addresses in subnets. It is never nil for a Handler.
	Account *record.Account
}

// Recorded returns the id and outputs of the resource as if it were only recorded, or
// the error with which the service would refuse it. A Handler replaces those outputs
// for which it has real values.
func (r Request) Recorded() (Result, error) {
	account := r.Account
	if account == nil {
		account = record.NewAccount("", "")
	}
	id, outputs, err := account.Outputs(r.resource())
	if err != nil {
		return Result{}, fmt.Errorf("record %s: %w", r.Name, err)
	}
	return Result{ID: id, Outputs: outputs}, nil
}

// resource converts the request for package record.
func (r Request) resource() record.Resource {
	var removed []string
	for k := range r.OldInputs {
		if _, still := r.Inputs[k]; !still && !strings.HasPrefix(string(k), "__") {
			removed = append(removed, string(k))
		}
	}
	return record.Resource{URN: r.URN, Type: r.Type, Name: r.Name, ID: r.ID, Inputs: r.Inputs, Removed: removed, Outputs: r.Outputs}
}

// Result is the state of a resource. ID is read on create only. Inputs is set by Read
// only: those of the request, with what has changed outside of the program; nil = all as
// they were.
type Result struct {
	ID      string
	Inputs  resource.PropertyMap
	Outputs resource.PropertyMap
}

// PartialError is returned by Create and Update if the resource exists but is
// not in the requested state: the engine keeps it in its state, and the next
// update without a refresh counts it as there.
type PartialError struct {
	Result  Result
	Reasons []string // one sentence each
}

// Error joins the reasons.
func (e *PartialError) Error() string {
	return fmt.Sprintf("resource %s exists but failed to initialize: %s", e.Result.ID, strings.Join(e.Reasons, "; "))
}

// Recording is the Handler of resources that are only recorded. Handlers embed it
// and override some operations.
type Recording struct{}

// Create implements Handler.
func (Recording) Create(_ context.Context, r Request) (Result, error) { return r.Recorded() }

// Read implements Handler. It reports the last state, unless the resource has ended.
func (Recording) Read(_ context.Context, r Request) (Result, bool, error) {
	if r.Account != nil && r.Account.HasEnded(r.ID) {
		return Result{}, false, nil
	}
	return Result{ID: r.ID, Outputs: r.Outputs}, true, nil
}

// Update implements Handler.
func (Recording) Update(_ context.Context, r Request) (Result, error) { return r.Recorded() }

// Delete implements Handler. It fails where AWS would refuse.
func (Recording) Delete(_ context.Context, r Request) error { return DeletionRefusal(r) }

// DeletionRefusal returns the error with which AWS refuses to delete a
// resource that is protected or in use, nil otherwise. A Handler of such a type must call
// it before it deletes.
func DeletionRefusal(r Request) error {
	isOn := func(output resource.PropertyKey) bool {
		v := r.Outputs[output]
		return v.IsBool() && v.BoolValue()
	}
	if r.Account != nil && r.Type == "aws:ec2/internetGateway:InternetGateway" {
		if vpc := r.Account.MappedAddress(r.ID); vpc != "" {
			return fmt.Errorf("detach internet gateway %s: DependencyViolation: Network %s has some mapped public address(es)."+
				" Please unmap those public address(es) before detaching the gateway", r.ID, vpc)
		}
	}
	switch {
	case r.Type == "aws:s3/bucketV2:BucketV2" && !isOn("forceDestroy") && r.Account != nil && r.Account.HoldsObjects(r.ID):
		return fmt.Errorf("delete bucket %s: BucketNotEmpty: The bucket you tried to delete is not empty."+
			" You must delete all versions in the bucket", r.ID)
	case r.Type == "aws:emr/cluster:Cluster" && isOn("terminationProtection"):
		return fmt.Errorf("terminate cluster %s: ValidationException: Could not shut down one or more job flows since they are"+
			" termination protected; set terminationProtection to false and update first", r.ID)
	case r.Type == "aws:ec2/instance:Instance" && isOn("disableApiTermination"):
		return fmt.Errorf("terminate instance %s: OperationNotPermitted: the instance may not be terminated;"+
			" set disableApiTermination to false and update first", r.ID)
	default:
		return nil
	}
}
