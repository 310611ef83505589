package iamapi

import (
	"encoding/xml"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

// STS serves AssumeRole of AWS STS (Query protocol, API version 2011-06-15) to machines, whose
// access key says which role asks. It is an http.Handler.
type STS struct {
	Roles *s3.Roles
	Log   *slog.Logger
}

const (
	stsNamespace = "https://sts.amazonaws.com/doc/2011-06-15/"

	// sessionLasts is how long the credentials of a role that a role assumes are valid at most
	// (STS API Reference, "AssumeRole": role chaining).
	sessionLasts = time.Hour
)

// assumption is the answer to AssumeRole.
type assumption struct {
	XMLName     xml.Name
	Credentials sessionCredentials `xml:"AssumeRoleResult>Credentials"`
	RequestID   string             `xml:"ResponseMetadata>RequestId"`
}

type sessionCredentials struct {
	AccessKeyId, SecretAccessKey, SessionToken, Expiration string //nolint:revive // the API's own spelling
}

// keyOf finds the access key in a signature of version 4.
var keyOf = regexp.MustCompile(`Credential=([^/]+)/`)

// ServeHTTP implements http.Handler.
func (s *STS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	key := keyOf.FindStringSubmatch(r.Header.Get("Authorization"))
	switch err := r.ParseForm(); {
	case err != nil:
		s.refuse(w, http.StatusBadRequest, "MalformedInput", err.Error())
		return
	case key == nil:
		s.refuse(w, http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token")
		return
	case r.Form.Get("Action") != "AssumeRole":
		s.refuse(w, http.StatusBadRequest, "InvalidAction",
			r.Form.Get("Action")+" is not supported by the local cloud, which supports AssumeRole")
		return
	}
	arn := r.Form.Get("RoleArn")
	assumed, err := s.Roles.Assume(r.Context(), key[1], path.Base(arn))
	switch {
	case errors.Is(err, s3.ErrDenied):
		s.refuse(w, http.StatusForbidden, "AccessDenied", err.Error())
	case err != nil:
		s.Log.Error("STS", "role", arn, "error", err)
		s.refuse(w, http.StatusInternalServerError, "ServiceFailure", err.Error())
	default:
		write(w, http.StatusOK, assumption{
			XMLName: xml.Name{Space: stsNamespace, Local: "AssumeRoleResponse"},
			// The gateway gives roles keys that last. It takes them with an empty token only.
			Credentials: sessionCredentials{
				AccessKeyId: assumed.ID, SecretAccessKey: assumed.Secret, Expiration: time.Now().UTC().Add(sessionLasts).Format(time.RFC3339),
			},
			RequestID: requestID,
		})
	}
}

func (s *STS) refuse(w http.ResponseWriter, status int, code, message string) {
	writeRefusal(w, stsNamespace, &apiError{status, code, message})
}
