package changes

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// UnfinishedSteps returns a Guard's query of EMR. It lists a step by its id and name.
func UnfinishedSteps(api emr.ListStepsAPIClient) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, clusterID string) ([]string, error) {
		var out []string
		pages := emr.NewListStepsPaginator(api, &emr.ListStepsInput{
			ClusterId:  aws.String(clusterID),
			StepStates: []types.StepState{types.StepStatePending, types.StepStateRunning, types.StepStateCancelPending},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("list steps: %w", err)
			}
			for _, s := range page.Steps {
				out = append(out, fmt.Sprintf("%s (%s)", aws.ToString(s.Id), aws.ToString(s.Name)))
			}
		}
		return out, nil
	}
}
