package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// Roles are the roles of the account, as far as S3 asks for them: a process of
// VersityGW's IAM, which decides each request to the gateway by the role's own
// policies, attached ones too. It gives roles no key, so that each role is a user
// there, and knows neither instance profiles nor managed policies, which are in account.
type Roles struct {
	options Options
	process *process
	client  *iam.Client

	accountMu sync.Mutex
	account   account
	changed   map[string]time.Time // by instance profile: when its role was set, if this process has set it

	mu   sync.Mutex
	keys map[string]Key // by role; in memory only, they are secrets
}

// Key is a role's access key.
type Key struct{ ID, Secret string }

// socket returns the name of an abstract socket, which is of the region's network
// namespace alone: one for IAM's API, or the one at which the gateway asks. A colon
// would make VersityGW take it for host and port.
func (o Options) socket(name string) string {
	return "@" + name + "-of-s3-" + strings.ReplaceAll(o.Address, ":", "-")
}

// startRoles starts the process and returns once it answers. It keeps users and
// policies in the state, but not their keys: every process creates new ones.
func startRoles(ctx context.Context, o Options) (*Roles, error) {
	r := &Roles{options: o, keys: map[string]Key{}, changed: map[string]time.Time{}}
	var err error
	if r.account, err = readAccount(o.Dir); err != nil {
		return nil, err
	}
	if r.process, err = supervise(r.startProcess); err != nil {
		return nil, err
	}
	dialer := net.Dialer{}
	r.client = iam.New(iam.Options{
		Region: o.Region, BaseEndpoint: aws.String("http://iam"),
		Credentials: credentials.NewStaticCredentialsProvider(o.AccessKey, o.SecretKey, ""),
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", o.socket("iam"))
		}}},
	})
	for _, name := range []string{"iam", "policies"} {
		if err := awaitListener(ctx, "unix", o.socket(name)); err != nil {
			r.process.stop()
			return nil, fmt.Errorf("IAM of the S3 gateway not ready %w; see the region's log", err)
		}
	}
	return r, nil
}

func (r *Roles) startProcess() (*exec.Cmd, error) {
	o := r.options
	cmd := exec.Command(o.Binary, "--region", o.Region, "--port", o.socket("iam"),
		"iam", "--dir", o.accountsDir(), "--private-ports", o.socket("policies"), "--quiet")
	cmd.Env = o.environment()
	cmd.Stdout, cmd.Stderr = o.Log, o.Log
	return cmd, cmd.Start()
}

// PID returns the process id; it changes with each restart.
func (r *Roles) PID() int { return r.process.pid() }

// awaitListener waits until an address accepts connections.
func awaitListener(ctx context.Context, network, address string) error {
	dialer := net.Dialer{Timeout: time.Second}
	return poll.Until(ctx, poll.Options{Interval: 20 * time.Millisecond, Timeout: 30 * time.Second}, func(ctx context.Context) error {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// environment has the account's root key.
func (o Options) environment() []string {
	return append(os.Environ(), "ROOT_ACCESS_KEY="+o.AccessKey, "ROOT_SECRET_KEY="+o.SecretKey)
}

// Put creates a role unless it exists.
func (r *Roles) Put(ctx context.Context, role string) error {
	_, err := r.client.CreateUser(ctx, &iam.CreateUserInput{UserName: &role})
	var exists *types.EntityAlreadyExistsException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("create role %s: %w", role, err)
	}
	return nil
}

// PutPolicy sets an inline policy of a role. Only its statements about S3 count.
func (r *Roles) PutPolicy(ctx context.Context, role, name, document string) error {
	about, err := s3Statements(document)
	if err != nil {
		return fmt.Errorf("put policy %s of role %s: %w", name, role, err)
	}
	if about == "" {
		return r.DeletePolicy(ctx, role, name)
	}
	if _, err := r.client.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: &role, PolicyName: &name, PolicyDocument: &about}); err != nil {
		return fmt.Errorf("put policy %s of role %s: %w", name, role, err)
	}
	return nil
}

// DeletePolicy deletes an inline policy of a role, if it exists.
func (r *Roles) DeletePolicy(ctx context.Context, role, name string) error {
	_, err := r.client.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{UserName: &role, PolicyName: &name})
	if err != nil && !isMissing(err) {
		return fmt.Errorf("delete policy %s of role %s: %w", name, role, err)
	}
	return nil
}

func isMissing(err error) bool {
	var missing *types.NoSuchEntityException
	return errors.As(err, &missing)
}

// Delete deletes a role with its policies and keys, if it exists. Its profiles are then
// without role.
func (r *Roles) Delete(ctx context.Context, role string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, role)
	err := r.deleteKeys(ctx, role)
	policies, listErr := r.client.ListUserPolicies(ctx, &iam.ListUserPoliciesInput{UserName: &role})
	if err = errors.Join(err, listErr); err == nil {
		for _, name := range policies.PolicyNames {
			err = errors.Join(err, r.DeletePolicy(ctx, role, name))
		}
	}
	if err == nil {
		_, err = r.client.DeleteUser(ctx, &iam.DeleteUserInput{UserName: &role})
	}
	if err != nil && !isMissing(err) {
		return fmt.Errorf("delete role %s: %w", role, err)
	}
	return r.forget(role)
}

// deleteKeys deletes the access keys of a role.
func (r *Roles) deleteKeys(ctx context.Context, role string) error {
	found, err := r.client.ListAccessKeys(ctx, &iam.ListAccessKeysInput{UserName: &role})
	if err != nil {
		return err
	}
	for _, k := range found.AccessKeyMetadata {
		_, deleteErr := r.client.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: &role, AccessKeyId: k.AccessKeyId})
		err = errors.Join(err, deleteErr)
	}
	return err
}

// Key returns a role's access key. The first call of a process creates it, in
// place of those of earlier processes, whose machines have ended.
func (r *Roles) Key(ctx context.Context, role string) (Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.keys[role]; ok {
		return k, nil
	}
	if err := r.deleteKeys(ctx, role); err != nil {
		return Key{}, fmt.Errorf("replace the access key of role %s: %w", role, err)
	}
	created, err := r.client.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: &role})
	if err != nil {
		return Key{}, fmt.Errorf("create an access key of role %s: %w", role, err)
	}
	k := Key{ID: *created.AccessKey.AccessKeyId, Secret: *created.AccessKey.SecretAccessKey}
	r.keys[role] = k
	return k, nil
}
