// Package iamapi serves IAM's API for those who start clusters without Pulumi: roles,
// instance profiles and policies, over the account of package s3. It decides nothing
// itself: S3 does, by what is put here. STS gives roles the keys of roles that trust them.
package iamapi

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

// Server serves the Query protocol of IAM (API version 2010-05-08). It is an
// http.Handler.
type Server struct {
	Roles     *s3.Roles
	AccountID string
	Log       *slog.Logger
}

const (
	namespace = "https://iam.amazonaws.com/doc/2010-05-08/"
	requestID = "00000000-0000-0000-0000-000000000000"
	maxBody   = 1 << 20
)

// result is what an operation returns, in the elements of IAM's answers.
type result struct {
	Role            *role
	Policy          *managedPolicy
	InstanceProfile *instanceProfile
}

type role struct {
	Path, RoleName, RoleId, Arn string //nolint:revive // the API's own spelling
	CreateDate                  string `xml:",omitempty"`
	AssumeRolePolicyDocument    string `xml:",omitempty"`
}

type managedPolicy struct {
	PolicyName, PolicyId, Arn, Path, DefaultVersionId string //nolint:revive // the API's own spelling
	AttachmentCount                                   int
	IsAttachable                                      bool
	CreateDate, UpdateDate                            string
}

type instanceProfile struct {
	Path, InstanceProfileName, InstanceProfileId, Arn string //nolint:revive // the API's own spelling
	CreateDate                                        string `xml:",omitempty"`
	Roles                                             []role `xml:"Roles>member"`
}

// apiError is an error as IAM's clients know it.
type apiError struct {
	status        int
	code, message string
}

// Error implements error.
func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(status int, code, format string, args ...any) error {
	return &apiError{status, code, fmt.Sprintf(format, args...)}
}

// operation handles a request; its values are the request's parameters.
type operation func(ctx context.Context, in url.Values) (result, error)

func (s *Server) operations() map[string]operation {
	return map[string]operation{
		"CreateRole": s.createRole, "DeleteRole": s.deleteRole,
		"PutRolePolicy": s.putRolePolicy, "DeleteRolePolicy": s.deleteRolePolicy,
		"CreatePolicy": s.createPolicy, "DeletePolicy": s.deletePolicy,
		"AttachRolePolicy": s.attachRolePolicy, "DetachRolePolicy": s.detachRolePolicy,
		"CreateInstanceProfile": s.createInstanceProfile, "GetInstanceProfile": s.getInstanceProfile,
		"DeleteInstanceProfile": s.deleteInstanceProfile, "AddRoleToInstanceProfile": s.addRoleToInstanceProfile,
		"RemoveRoleFromInstanceProfile": s.removeRoleFromInstanceProfile,
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	err := r.ParseForm()
	action := r.Form.Get("Action")
	var out result
	switch do, known := s.operations()[action]; {
	case err != nil:
		err = refuse(http.StatusBadRequest, "MalformedInput", "%v", err)
	case r.Header.Get("Authorization") == "":
		err = refuse(http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token")
	case !known:
		err = refuse(http.StatusBadRequest, "InvalidAction", "%s is not supported by the local cloud, which supports %s", action,
			strings.Join(slices.Sorted(maps.Keys(s.operations())), ", "))
	default:
		out, err = do(r.Context(), r.Form)
	}
	if err != nil {
		s.writeError(w, action, err)
		return
	}
	type named struct {
		XMLName xml.Name
		result
	}
	write(w, http.StatusOK, struct {
		XMLName   xml.Name
		Result    any
		RequestID string `xml:"ResponseMetadata>RequestId"`
	}{xml.Name{Space: namespace, Local: action + "Response"}, named{xml.Name{Local: action + "Result"}, out}, requestID})
}

func (s *Server) writeError(w http.ResponseWriter, action string, err error) {
	var known *apiError
	if !errors.As(err, &known) {
		s.Log.Error("IAM", "action", action, "error", err)
		known = &apiError{http.StatusInternalServerError, "ServiceFailure", err.Error()}
	}
	writeRefusal(w, namespace, known)
}

// writeRefusal answers with an error of the Query protocol.
func writeRefusal(w http.ResponseWriter, namespace string, known *apiError) {
	kind := "Sender"
	if known.status == http.StatusInternalServerError {
		kind = "Receiver"
	}
	write(w, known.status, struct {
		XMLName   xml.Name
		Type      string `xml:"Error>Type"`
		Code      string `xml:"Error>Code"`
		Message   string `xml:"Error>Message"`
		RequestID string `xml:"RequestId"`
	}{xml.Name{Space: namespace, Local: "ErrorResponse"}, kind, known.code, known.message, requestID})
}

func write(w http.ResponseWriter, status int, answer any) {
	text, err := xml.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has gone
}

// arn returns the ARN of a role, policy or instance profile.
func (s *Server) arn(kind, name string) string {
	return "arn:aws:iam::" + s.AccountID + ":" + kind + "/" + name
}

// idOf returns the unique id of an entity, which is always the same for its ARN.
func idOf(prefix, arn string) string {
	sum := sha256.Sum256([]byte(arn))
	const length = 17
	return prefix + base32.StdEncoding.EncodeToString(sum[:])[:length]
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func (s *Server) roleOf(name string) role {
	arn := s.arn("role", name)
	return role{Path: "/", RoleName: name, RoleId: idOf("AROA", arn), Arn: arn}
}

func (s *Server) profileOf(name, of string) *instanceProfile {
	arn := s.arn("instance-profile", name)
	p := &instanceProfile{Path: "/", InstanceProfileName: name, InstanceProfileId: idOf("AIPA", arn), Arn: arn}
	if of != "" {
		p.Roles = []role{s.roleOf(of)}
	}
	return p
}
