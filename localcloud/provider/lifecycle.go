package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/record"
)

// Create makes a resource. A preview makes nothing: what only the service can
// know is unknown.
func (s *server) Create(ctx context.Context, r plugin.CreateRequest) (plugin.CreateResponse, error) {
	req := s.request(string(r.URN), string(r.Type), r.Name, "", r.Properties)
	if r.Preview {
		return plugin.CreateResponse{Properties: s.foreseen(req)}, nil
	}
	if err := s.ready(); err != nil {
		return plugin.CreateResponse{}, err
	}
	release, err := s.account.Claim(req.resource())
	if err != nil {
		return plugin.CreateResponse{}, fmt.Errorf("create %s: %w", r.Name, err)
	}
	begun := time.Now()
	result, err := s.handler(req.Type).Create(ctx, req)
	if err == nil && result.ID == "" {
		err = fmt.Errorf("create %s: the handler of %s gave no id", r.Name, r.Type)
	}
	if err != nil {
		var partial *PartialError
		if !errors.As(err, &partial) {
			release()
		}
		return plugin.CreateResponse{}, s.wire(req, err)
	}
	s.log.Info("created", "urn", r.URN, "id", result.ID, "seconds", time.Since(begun).Seconds())
	s.account.Learn(record.Resource{URN: req.URN, Type: req.Type, ID: result.ID, Outputs: result.Outputs})
	if err := s.readable(req.Type, result.Outputs); err != nil {
		return plugin.CreateResponse{}, s.wire(req, &PartialError{Result: result, Reasons: []string{err.Error()}})
	}
	return plugin.CreateResponse{ID: resource.ID(result.ID), Properties: result.Outputs}, nil
}

// Update changes a resource in place.
func (s *server) Update(ctx context.Context, r plugin.UpdateRequest) (plugin.UpdateResponse, error) {
	req := s.request(string(r.URN), string(r.Type), r.Name, string(r.ID), r.NewInputs)
	req.OldInputs, req.Outputs = r.OldInputs, r.OldOutputs
	if r.Preview {
		out, err := req.Recorded()
		if err != nil {
			return plugin.UpdateResponse{}, err
		}
		return plugin.UpdateResponse{Properties: out.Outputs}, nil
	}
	if err := s.ready(); err != nil {
		return plugin.UpdateResponse{}, err
	}
	result, err := s.handler(req.Type).Update(ctx, req)
	if err != nil {
		var partial *PartialError
		if errors.As(err, &partial) && partial.Result.ID == "" {
			partial.Result.ID = req.ID
		}
		return plugin.UpdateResponse{}, s.wire(req, err)
	}
	s.account.Learn(record.Resource{URN: req.URN, Type: req.Type, ID: req.ID, Outputs: result.Outputs})
	if err := s.readable(req.Type, result.Outputs); err != nil {
		return plugin.UpdateResponse{}, s.wire(req, &PartialError{Result: Result{ID: req.ID, Outputs: result.Outputs}, Reasons: []string{err.Error()}})
	}
	return plugin.UpdateResponse{Properties: result.Outputs}, nil
}

// Read refreshes a resource. An import of a resource that the engine has no
// state of is refused: there is nothing to import from.
func (s *server) Read(ctx context.Context, r plugin.ReadRequest) (plugin.ReadResponse, error) {
	if err := s.ready(); err != nil {
		return plugin.ReadResponse{}, err
	}
	req := s.request(string(r.URN), string(r.Type), r.Name, string(r.ID), r.Inputs)
	req.Outputs = r.State
	if len(r.State) == 0 && s.handlers[req.Type] == nil {
		return plugin.ReadResponse{}, fmt.Errorf("read %s %s: only what the stack made itself exists in the local cloud", r.Type, r.ID)
	}
	result, exists, err := s.handler(req.Type).Read(ctx, req)
	if err != nil {
		return plugin.ReadResponse{}, err
	}
	if !exists {
		s.account.Forget(req.resource())
		return plugin.ReadResponse{}, nil
	}
	s.account.Learn(record.Resource{URN: req.URN, Type: req.Type, ID: req.ID, Outputs: result.Outputs})
	return plugin.ReadResponse{ReadResult: plugin.ReadResult{ID: r.ID, Inputs: r.Inputs, Outputs: result.Outputs}}, nil
}

// Delete removes a resource.
func (s *server) Delete(ctx context.Context, r plugin.DeleteRequest) (plugin.DeleteResponse, error) {
	if err := s.ready(); err != nil {
		return plugin.DeleteResponse{}, err
	}
	req := s.request(string(r.URN), string(r.Type), r.Name, string(r.ID), r.Inputs)
	req.Outputs = r.Outputs
	if err := s.handler(req.Type).Delete(ctx, req); err != nil {
		return plugin.DeleteResponse{}, err
	}
	s.account.Forget(req.resource())
	s.log.Info("deleted", "urn", r.URN, "id", r.ID)
	return plugin.DeleteResponse{}, nil
}

func (s *server) request(urn, typ, name, id string, inputs resource.PropertyMap) Request {
	return Request{URN: urn, Type: typ, Name: name, ID: id, Inputs: inputs, Account: s.account}
}

func (s *server) handler(typ string) Handler {
	if h, ok := s.handlers[typ]; ok {
		return h
	}
	return Recording{}
}

// foreseen is what a preview can say of a resource that is to be made: its
// inputs, and for every other output that it will exist.
func (s *server) foreseen(r Request) resource.PropertyMap {
	out := resource.PropertyMap{}
	if state := s.pkg.Resources[r.Type].State; state != nil {
		for name := range catalog.Fields(state) {
			out[resource.PropertyKey(name)] = resource.MakeComputed(resource.NewStringProperty(""))
		}
	}
	for k, v := range r.Inputs {
		out[k] = v
	}
	return out
}

// readable checks outputs against what the SDK will read them into.
func (s *server) readable(typ string, outputs resource.PropertyMap) error {
	state := s.pkg.Resources[typ].State
	if state == nil {
		return nil
	}
	return misshapen(typ, catalog.Shape(state, outputs))
}

// wire turns an error into one the engine understands: a partial failure
// carries the resource that exists.
func (s *server) wire(r Request, err error) error {
	var partial *PartialError
	if !errors.As(err, &partial) {
		return err
	}
	s.account.Learn(record.Resource{URN: r.URN, Type: r.Type, ID: partial.Result.ID, Outputs: partial.Result.Outputs})
	options := plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}
	outputs, merr := plugin.MarshalProperties(partial.Result.Outputs, options)
	if merr != nil {
		return errors.Join(err, merr)
	}
	inputs, merr := plugin.MarshalProperties(r.Inputs, options)
	if merr != nil {
		return errors.Join(err, merr)
	}
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, err.Error()), &pulumirpc.ErrorResourceInitFailed{
		Id: partial.Result.ID, Properties: outputs, Inputs: inputs, Reasons: partial.Reasons,
	})
}
