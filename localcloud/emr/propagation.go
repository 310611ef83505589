package emr

import (
	"context"
	"errors"
	"strings"
	"time"

	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// propagationTimeout is how long the provider waits until EMR sees what IAM has created.
const propagationTimeout = 2 * time.Minute

// runJobFlow starts a cluster. Like the provider it repeats the call while EMR does not
// see the instance profile. A service role that EMR does not see yet ends the cluster
// instead, on AWS, and the provider does not start another.
func (r Resources) runJobFlow(ctx context.Context, request *awsemr.RunJobFlowInput) (answer *awsemr.RunJobFlowOutput, err error) {
	err = poll.Until(ctx, poll.Options{Interval: pollInterval, Timeout: propagationTimeout}, func(ctx context.Context) error {
		answer, err = r.API.RunJobFlow(ctx, request)
		if err != nil && !unseenProfile(err) {
			return poll.Permanent(err)
		}
		return err
	})
	return answer, err
}

// unseenProfile recognizes the errors for which the provider repeats RunJobFlow.
func unseenProfile(err error) bool {
	var refusal smithy.APIError
	if !errors.As(err, &refusal) {
		return false
	}
	return refusal.ErrorCode() == "ValidationException" && strings.Contains(refusal.ErrorMessage(), "Invalid InstanceProfile:") ||
		refusal.ErrorCode() == "AccessDeniedException" && strings.Contains(refusal.ErrorMessage(), "Failed to authorize instance profile")
}
