package simulator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

// Create creates a resource. In a preview it creates nothing and returns
// unknown values for what only the service can know.
func (s *server) Create(ctx context.Context, r plugin.CreateRequest) (plugin.CreateResponse, error) {
	req := s.request(string(r.URN), string(r.Type), r.Name, "", r.Properties)
	if r.Preview {
		return plugin.CreateResponse{Properties: s.previewOutputs(req)}, nil
	}
	if err := s.connect(ctx); err != nil {
		return plugin.CreateResponse{}, err
	}
	release, err := s.account.ClaimName(req.resource())
	if err != nil {
		return plugin.CreateResponse{}, fmt.Errorf("create %s: %w", r.Name, err)
	}
	start := time.Now()
	result, err := s.handler(req.Type).Create(ctx, req)
	if err == nil && result.ID == "" {
		err = fmt.Errorf("create %s: the handler of %s returned no id", r.Name, r.Type)
	}
	if err != nil {
		var partial *PartialError
		if !errors.As(err, &partial) {
			release()
		}
		return plugin.CreateResponse{}, s.engineError(req, err)
	}
	s.log.Info("created", "urn", r.URN, "id", result.ID, "seconds", time.Since(start).Seconds())
	req.ID = result.ID
	if err := s.addToAccount(req, result.Outputs); err != nil {
		return plugin.CreateResponse{}, err
	}
	return plugin.CreateResponse{ID: resource.ID(result.ID), Properties: result.Outputs}, nil
}

// Update changes a resource in place.
func (s *server) Update(ctx context.Context, r plugin.UpdateRequest) (plugin.UpdateResponse, error) {
	req := s.request(string(r.URN), string(r.Type), r.Name, string(r.ID), r.NewInputs)
	req.OldInputs, req.Outputs = r.OldInputs, r.OldOutputs
	if r.Preview {
		out, err := req.Recorded()
		return plugin.UpdateResponse{Properties: out.Outputs}, err
	}
	if err := s.connect(ctx); err != nil {
		return plugin.UpdateResponse{}, err
	}
	result, err := s.handler(req.Type).Update(ctx, req)
	if err != nil {
		var partial *PartialError
		if errors.As(err, &partial) && partial.Result.ID == "" {
			partial.Result.ID = req.ID
		}
		return plugin.UpdateResponse{}, s.engineError(req, err)
	}
	if err := s.addToAccount(req, result.Outputs); err != nil {
		return plugin.UpdateResponse{}, err
	}
	return plugin.UpdateResponse{Properties: result.Outputs}, nil
}

// Read refreshes a resource. It refuses to import one that is only recorded:
// there is nothing to import from.
func (s *server) Read(ctx context.Context, r plugin.ReadRequest) (plugin.ReadResponse, error) {
	if err := s.checkReachable(); err != nil {
		return plugin.ReadResponse{}, err
	}
	req := s.request(string(r.URN), string(r.Type), r.Name, string(r.ID), r.Inputs)
	req.Outputs = r.State
	if len(r.State) == 0 && s.handlers[req.Type] == nil {
		return plugin.ReadResponse{}, fmt.Errorf("read %s %s: the simulated account contains only what the stack created", r.Type, r.ID)
	}
	result, exists, err := s.handler(req.Type).Read(ctx, req)
	if err != nil {
		return plugin.ReadResponse{}, err
	}
	if !exists {
		s.account.Remove(req.resource())
		return plugin.ReadResponse{}, nil
	}
	s.account.Add(record.Resource{URN: req.URN, Type: req.Type, ID: req.ID, Outputs: result.Outputs})
	inputs := r.Inputs
	if result.Inputs != nil {
		inputs = result.Inputs
	}
	return plugin.ReadResponse{ReadResult: plugin.ReadResult{ID: r.ID, Inputs: inputs, Outputs: result.Outputs}}, nil
}

// Delete deletes a resource.
func (s *server) Delete(ctx context.Context, r plugin.DeleteRequest) (plugin.DeleteResponse, error) {
	if err := s.connect(ctx); err != nil {
		return plugin.DeleteResponse{}, err
	}
	req := s.request(string(r.URN), string(r.Type), r.Name, string(r.ID), r.Inputs)
	req.Outputs = r.Outputs
	if err := s.handler(req.Type).Delete(ctx, req); err != nil {
		return plugin.DeleteResponse{}, err
	}
	s.account.Remove(req.resource())
	s.log.Info("deleted", "urn", r.URN, "id", r.ID)
	return plugin.DeleteResponse{}, nil
}

func (s *server) request(urn, typ, name, id string, inputs resource.PropertyMap) Request {
	return Request{URN: urn, Type: typ, Name: name, ID: id, Inputs: inputs, Account: s.account}
}

// handler returns the Handler of a type, by default Recording.
func (s *server) handler(typ string) Handler {
	if h, ok := s.handlers[typ]; ok {
		return h
	}
	return Recording{}
}

// previewOutputs returns the inputs, and an unknown value for every other output.
func (s *server) previewOutputs(r Request) resource.PropertyMap {
	out := resource.PropertyMap{}
	if state := s.pkg.Resources[r.Type].State; state != nil {
		for name := range catalog.Fields(state) {
			out[resource.PropertyKey(name)] = resource.MakeComputed(resource.NewStringProperty(""))
		}
	}
	maps.Copy(out, r.Inputs)
	return out
}

// addToAccount adds a created or updated resource to the account. If the SDK cannot
// decode its outputs, it reports the resource as partially created.
func (s *server) addToAccount(r Request, outputs resource.PropertyMap) error {
	s.account.Add(record.Resource{URN: r.URN, Type: r.Type, ID: r.ID, Outputs: outputs})
	state := s.pkg.Resources[r.Type].State
	if state == nil {
		return nil
	}
	if err := checkReadable(r.Type, state, outputs); err != nil {
		return s.engineError(r, &PartialError{Result: Result{ID: r.ID, Outputs: outputs}, Reasons: []string{err.Error()}})
	}
	return nil
}

// engineError converts a PartialError to the RPC error that carries the
// resource's state to the engine. Other errors stay as they are.
func (s *server) engineError(r Request, err error) error {
	var partial *PartialError
	if !errors.As(err, &partial) {
		return err
	}
	s.account.Add(record.Resource{URN: r.URN, Type: r.Type, ID: partial.Result.ID, Outputs: partial.Result.Outputs})
	options := plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}
	outputs, outputsErr := plugin.MarshalProperties(partial.Result.Outputs, options)
	inputs, inputsErr := plugin.MarshalProperties(r.Inputs, options)
	if marshalErr := errors.Join(outputsErr, inputsErr); marshalErr != nil {
		return fmt.Errorf("%w; marshal its state: %w", err, marshalErr)
	}
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, err.Error()), &pulumirpc.ErrorResourceInitFailed{
		Id: partial.Result.ID, Properties: outputs, Inputs: inputs, Reasons: partial.Reasons,
	})
}
