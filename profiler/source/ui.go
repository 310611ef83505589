package source

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// uis opens persistent UIs, one per cluster.
type uis struct {
	emr     *emr.Client
	store   Store
	key     string
	limit   int // per account and region
	timeout time.Duration
	now     func() time.Time

	mu sync.Mutex // held while a UI is created
	// full is EMR's refusal to create more UIs in this run.
	full error
	// expired reports that this run has looked for clusters that have ended since their UI was
	// last used.
	expired bool
}

// uiTarget is a cluster whose persistent UI is opened.
type uiTarget struct {
	arn      string
	expires  *time.Time // when EMR deletes its history; nil while it runs
	security string     // name of its security configuration
}

// begin forgets what a run has learned about the quota.
func (u *uis) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.full, u.expired = nil, false
}

// login creates the cluster's UI, or finds the existing one, and waits until it is ready.
// Each call of the returned Login requests a new URL from EMR.
func (u *uis) login(ctx context.Context, cluster uiTarget) (history.Login, keptUI, error) {
	ui, err := u.ui(ctx, cluster)
	if err != nil {
		return nil, ui, err
	}
	created, err := u.waitAttached(ctx, ui.ID)
	if err != nil {
		if err := u.forget(ctx, cluster.arn, err); err != nil {
			return nil, ui, err
		}
		if ui, err = u.ui(ctx, cluster); err != nil {
			return nil, ui, err
		}
		if created, err = u.waitAttached(ctx, ui.ID); err != nil {
			return nil, ui, err
		}
	}
	if !created.IsZero() {
		ui.Created = created
	}
	return func(ctx context.Context) (string, error) { return u.url(ctx, ui.ID) }, ui, nil
}

// create creates a UI.
func (u *uis) create(ctx context.Context, cluster uiTarget) (keptUI, error) {
	out, err := u.emr.CreatePersistentAppUI(ctx, &emr.CreatePersistentAppUIInput{
		TargetResourceArn: &cluster.arn, ProfilerType: types.ProfilerTypeShs,
	})
	if err != nil {
		refused := u.refusal(err, cluster)
		if refused == nil {
			return keptUI{}, fmt.Errorf("create a persistent UI: %w", err)
		}
		return keptUI{}, refused
	}
	return keptUI{
		ID: aws.ToString(out.PersistentAppUIId), Created: u.now().UTC().Truncate(time.Second), Expires: cluster.expires,
		RuntimeRoles: aws.ToBool(out.RuntimeRoleEnabledCluster),
	}, nil
}

// refusals are the codes of EMR's errors for a request that it will not serve. Only the first
// is documented for CreatePersistentAppUI; the others are what AWS services send in a region
// that lacks an operation.
var refusals = []string{"InvalidRequestException", "ValidationException", "UnknownOperationException"}

// quotaText matches EMR's message that an account has too many UIs. The error has no code of
// its own, and the message is not documented.
var quotaText = regexp.MustCompile(`(?i)\b(limit|quota|maximum number|too many)\b`)

// refusal returns the Obstacle if EMR refuses to create a UI, nil if the request failed
// for another reason. EMR's API does not show every precondition of persistent UIs
// (Management Guide, "View persistent application user interfaces"), so the Obstacle is
// Passing: the next run asks again.
func (u *uis) refusal(err error, cluster uiTarget) error {
	var answer smithy.APIError
	if !errors.As(err, &answer) || !slices.Contains(refusals, answer.ErrorCode()) {
		return nil
	}
	obstacle := &Obstacle{Reason: "EMR does not create a persistent UI: " + shown(answer.ErrorMessage()), Passing: true}
	if quotaText.MatchString(answer.ErrorMessage()) {
		obstacle.Remedy = quotaRemedy
		u.full = obstacle
		return obstacle
	}
	security := ""
	if cluster.security != "" {
		security = fmt.Sprintf(" (look at the security configuration %q)", shown(cluster.security))
	}
	obstacle.Remedy = "EMR offers none for clusters that use AWS Lake Formation" + security + ", or in some regions; newer regions need " +
		"emr-6.14.0 or later: have Spark write its event logs to S3 (spark.eventLog.dir), and read that folder with --logs"
	return obstacle
}

// uiAttached is the state of a UI that is ready. EMR's API does not enumerate the states.
const uiAttached = "ATTACHED"

// uiEnded matches states in which a UI can no longer become ready. In others it may: replacing
// it would use up the quota, since EMR cannot delete UIs.
var uiEnded = regexp.MustCompile(`(?i)fail|terminat|delet|expir|ended`)

// pollOptions says how often to poll EMR until a UI is ready.
func (u *uis) pollOptions() poll.Options {
	return poll.Options{Interval: time.Second, MaxInterval: 10 * time.Second, Timeout: u.timeout}
}

// waitAttached waits until a UI is ready, and returns when EMR created it; zero if unknown.
func (u *uis) waitAttached(ctx context.Context, id string) (created time.Time, err error) {
	err = poll.Until(ctx, u.pollOptions(), func(ctx context.Context) error {
		out, err := u.emr.DescribePersistentAppUI(ctx, &emr.DescribePersistentAppUIInput{PersistentAppUIId: &id})
		if err != nil {
			return permanent(fmt.Errorf("describe the persistent UI %s: %w", id, err))
		}
		switch state := aws.ToString(out.PersistentAppUI.PersistentAppUIStatus); state {
		case uiAttached:
			created = aws.ToTime(out.PersistentAppUI.CreationTime)
			return nil
		default:
			err := fmt.Errorf("status %q: %s", state, shown(aws.ToString(out.PersistentAppUI.LastStateChangeReason)))
			if uiEnded.MatchString(state) {
				return poll.Permanent(fmt.Errorf("%w: %w", errEnded, err))
			}
			return err
		}
	})
	if err != nil {
		return created, fmt.Errorf("persistent UI %s is not ready: %w; the next run tries again (persistent_ui_timeout_seconds)", id, err)
	}
	return created, nil
}

// permanent ends a poll, unless the request failed because the poll's time is over: then the
// poll reports the last status.
func permanent(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, errQuotaDeadline) {
		return err
	}
	return poll.Permanent(err)
}

// url returns a new single-use presigned URL of a persistent UI.
func (u *uis) url(ctx context.Context, id string) (string, error) {
	url, err := presigned(ctx, u.pollOptions(), func(ctx context.Context) (*string, *bool, error) {
		out, err := u.emr.GetPersistentAppUIPresignedURL(ctx, &emr.GetPersistentAppUIPresignedURLInput{
			PersistentAppUIId: &id, PersistentAppUIType: types.PersistentAppUITypeShs,
		})
		if err != nil {
			return nil, nil, err
		}
		return out.PresignedURL, out.PresignedURLReady, nil
	})
	if err != nil {
		return "", fmt.Errorf("get a presigned URL of the persistent UI %s: %w", id, err)
	}
	return url, nil
}

// onClusterTimeout is how long the URL of a running cluster's own UI may take to become ready.
// The persistent UI shows the same with a delay.
const onClusterTimeout = 30 * time.Second

// onCluster returns a new presigned URL of a running cluster's own history server.
func (u *uis) onCluster(ctx context.Context, cluster string) (string, error) {
	o := u.pollOptions()
	o.Timeout = min(o.Timeout, onClusterTimeout)
	url, err := presigned(ctx, o, func(ctx context.Context) (*string, *bool, error) {
		out, err := u.emr.GetOnClusterAppUIPresignedURL(ctx, &emr.GetOnClusterAppUIPresignedURLInput{
			ClusterId: &cluster, OnClusterAppUIType: types.OnClusterAppUITypeSparkHistoryServer,
		})
		if err != nil {
			return nil, nil, err
		}
		return out.PresignedURL, out.PresignedURLReady, nil
	})
	if err != nil {
		return "", fmt.Errorf("open the history server of cluster %s: %w", cluster, err)
	}
	return url, nil
}

// presigned polls EMR until it reports that a URL is ready.
func presigned(
	ctx context.Context, o poll.Options, get func(context.Context) (url *string, ready *bool, err error),
) (url string, err error) {
	err = poll.Until(ctx, o, func(ctx context.Context) error {
		got, ready, err := get(ctx)
		if err != nil {
			return permanent(err)
		}
		if url = aws.ToString(got); url == "" || ready != nil && !*ready {
			return errors.New("presigned URL is not ready yet")
		}
		return nil
	})
	return url, err
}
