package emrapi

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// uiOperations are the operations on the pages of clusters. EMR has none that lists or
// deletes persistent UIs.
func (s *Server) uiOperations() map[string]operation {
	return map[string]operation{
		"CreatePersistentAppUI":          newOperation(s.createPersistentAppUI),
		"DescribePersistentAppUI":        newOperation(s.describePersistentAppUI),
		"GetPersistentAppUIPresignedURL": newOperation(s.getPersistentAppUIPresignedURL),
		"GetOnClusterAppUIPresignedURL":  clusterOperation(s, s.getOnClusterAppUIPresignedURL),
	}
}

// createPersistentAppUI adds another UI of a cluster at each call, as EMR does.
func (s *Server) createPersistentAppUI(input *emr.CreatePersistentAppUIInput) (*emr.CreatePersistentAppUIOutput, error) {
	found, err := s.targetCluster(aws.ToString(input.TargetResourceArn))
	if err != nil {
		return nil, err
	}
	if err := s.checkPersistentUI(found, input); err != nil {
		return nil, err
	}
	id, err := s.store.addPersistentUI(aws.ToString(found.Cluster.Id), types.PersistentAppUI{
		PersistentAppUITypeList: []types.PersistentAppUIType{types.PersistentAppUITypeShs}, Tags: input.Tags,
	}, s.checkUIQuota)
	if err != nil {
		return nil, err
	}
	return &emr.CreatePersistentAppUIOutput{PersistentAppUIId: &id, RuntimeRoleEnabledCluster: aws.Bool(false)}, nil
}

func (s *Server) describePersistentAppUI(input *emr.DescribePersistentAppUIInput) (*emr.DescribePersistentAppUIOutput, error) {
	ui, err := s.persistentUI(input.PersistentAppUIId)
	if err != nil {
		return nil, err
	}
	return &emr.DescribePersistentAppUIOutput{PersistentAppUI: &ui.UI}, nil
}

// persistentUI returns a UI for the operations whose input names it PersistentAppUIId.
func (s *Server) persistentUI(id *string) (persistentUI, error) {
	ui, err := s.store.persistentUI(aws.ToString(id))
	if errors.Is(err, ErrNotFound) {
		return ui, invalidRequestError("Persistent App UI id '%s' is not valid.", aws.ToString(id))
	}
	return ui, err
}

func (s *Server) getPersistentAppUIPresignedURL(
	input *emr.GetPersistentAppUIPresignedURLInput,
) (*emr.GetPersistentAppUIPresignedURLOutput, error) {
	ui, err := s.persistentUI(input.PersistentAppUIId)
	if err != nil {
		return nil, err
	}
	switch kind := input.PersistentAppUIType; kind {
	case "", types.PersistentAppUITypeShs:
	case types.PersistentAppUITypeTez, types.PersistentAppUITypeYts:
		return nil, invalidRequestError("PersistentAppUIType '%s' is not available for this cluster: the local cloud has SHS only.", kind)
	default:
		return nil, invalidRequestError("PersistentAppUIType '%s' is not valid: must be one of %q", kind, kind.Values())
	}
	if aws.ToString(ui.UI.PersistentAppUIStatus) != uiAttached {
		return &emr.GetPersistentAppUIPresignedURLOutput{PresignedURLReady: aws.Bool(false)}, nil
	}
	url, err := s.uis.Presign(Page{ClusterID: ui.ClusterID, ApplicationID: aws.ToString(input.ApplicationId)})
	if err != nil {
		return nil, err
	}
	return &emr.GetPersistentAppUIPresignedURLOutput{PresignedURL: &url, PresignedURLReady: aws.Bool(true)}, nil
}

func (s *Server) getOnClusterAppUIPresignedURL(
	found *record, input *emr.GetOnClusterAppUIPresignedURLInput,
) (*emr.GetOnClusterAppUIPresignedURLOutput, error) {
	page := Page{
		ClusterID:     aws.ToString(found.Cluster.Id),
		Live:          cmp.Or(input.OnClusterAppUIType, types.OnClusterAppUITypeSparkHistoryServer),
		ApplicationID: aws.ToString(input.ApplicationId),
	}
	if err := checkOnClusterUI(found, page); err != nil {
		return nil, err
	}
	if aws.ToBool(input.DryRun) {
		return &emr.GetOnClusterAppUIPresignedURLOutput{PresignedURLReady: aws.Bool(true)}, nil
	}
	url, err := s.uis.Presign(page)
	if err != nil {
		return nil, err
	}
	return &emr.GetOnClusterAppUIPresignedURLOutput{PresignedURL: &url, PresignedURLReady: aws.Bool(true)}, nil
}

// attachDue starts to attach the UIs that are in STARTING, each once: also those that
// an earlier process left in it.
func (s *Server) attachDue(ctx context.Context) {
	if s.uis == nil {
		return
	}
	for _, ui := range s.store.startingUIs() {
		s.mu.Lock()
		begun := s.attaching[ui.id()]
		s.attaching[ui.id()] = true
		s.mu.Unlock()
		if begun {
			continue
		}
		s.working.Go(func() {
			err := s.uis.Attach(ctx, ui.ClusterID)
			if err == nil {
				err = s.store.setPersistentUIStatus(ui.id(), uiAttached)
			}
			if err != nil && ctx.Err() == nil {
				s.log.Error("attach persistent UI", "ui", ui.id(), "cluster", ui.ClusterID, "error", err)
			}
		})
	}
}
