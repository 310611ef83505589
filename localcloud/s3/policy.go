package s3

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// s3Statements reduces an identity policy to its statements about S3, without Sids: IAM
// allows a user 2,048 characters, a role 10,240 ("IAM and AWS STS quotas"). It
// returns "" if none is left.
func s3Statements(document string) (string, error) {
	var policy struct {
		Version   string
		Statement listed[statement]
	}
	if err := json.Unmarshal([]byte(document), &policy); err != nil {
		return "", fmt.Errorf("read the policy: %w", err)
	}
	var kept listed[statement]
	for _, s := range policy.Statement {
		if s.isAboutS3() {
			delete(s, "Sid")
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	policy.Statement = kept
	raw, err := json.Marshal(policy)
	if err != nil {
		return "", fmt.Errorf("write the policy: %w", err)
	}
	return string(raw), nil
}

// listed are elements of a policy that may be written as one, without a list.
type listed[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *listed[T]) UnmarshalJSON(raw []byte) error {
	var list []T
	if json.Unmarshal(raw, &list) == nil {
		*l = list
		return nil
	}
	var one T
	if err := json.Unmarshal(raw, &one); err != nil {
		return err
	}
	*l = listed[T]{one}
	return nil
}

// statement is one rule, by element.
type statement map[string]json.RawMessage

// isAboutS3 reports whether an action of the statement may be one of S3's. One that
// lists what it excludes is.
func (s statement) isAboutS3() bool {
	raw, lists := s["Action"]
	if !lists {
		return true
	}
	var actions listed[string]
	if json.Unmarshal(raw, &actions) != nil {
		return true // IAM refuses it with a better message
	}
	return slices.ContainsFunc(actions, func(a string) bool { return a == "*" || strings.HasPrefix(strings.ToLower(a), "s3:") })
}
