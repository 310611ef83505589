// Package sigv4 verifies the signatures of AWS requests (Signature Version 4, IAM User Guide,
// "Create a signed AWS API request"), for the APIs of the local cloud. It signs what it received
// with AWS's own signer and compares the two.
//
// S3's requests are not verified here: the gateway does so itself. It decides who asks, not what
// they may do.
package sigv4

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	maxBody = 10 << 20

	// maxSkew is how far a request's time may be from the server's (General Reference, "Troubleshoot
	// signed requests": five minutes but for S3).
	maxSkew = 5 * time.Minute

	dateHeader = "X-Amz-Date"
	timeFormat = "20060102T150405Z"
)

// API is what a signature is for, and who may sign.
type API struct {
	Service, Region string // of the signature's scope
	// Secret returns the secret of an access key, false if there is no such key.
	Secret func(keyID string) (string, bool)
	// Refuse answers a request that is not signed as it must be.
	Refuse func(http.ResponseWriter, Refusal)
	// Now is the server's time; nil = time.Now.
	Now func() time.Time
}

// Handler passes on the requests that are signed with a key of the API's, and refuses the others.
func (a API) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			a.Refuse(w, Refusal{Incomplete, err.Error()})
			return
		}
		if refusal := a.verify(r, body); refusal != nil {
			a.Refuse(w, *refusal)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// authorization matches the header of a signed request.
var authorization = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=([^/,\s]+)/(\d{8})/([^/,\s]+)/([^/,\s]+)/aws4_request,\s*` +
		`SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$`)

func (a API) verify(r *http.Request, body []byte) *Refusal {
	header := r.Header.Get("Authorization")
	if header == "" {
		return &Refusal{Missing, "the request is not signed: sign it with the keys of the local cloud, which `make up` names"}
	}
	parts := authorization.FindStringSubmatch(header)
	if parts == nil {
		return &Refusal{Incomplete, "the Authorization header is not of Signature Version 4"}
	}
	keyID, date, region, service, signature := parts[1], parts[2], parts[3], parts[4], parts[6]
	if region != a.Region || service != a.Service {
		return &Refusal{Mismatch, fmt.Sprintf(
			"the credential is scoped to %s in %s, and must be to %s in %s", service, region, a.Service, a.Region)}
	}
	signed := strings.Split(parts[5], ";")
	if left := unsigned(r, signed); left != "" {
		return &Refusal{Incomplete, fmt.Sprintf("the header %s must be signed", left)}
	}
	at, err := time.Parse(timeFormat, r.Header.Get(dateHeader))
	if err != nil || at.Format("20060102") != date {
		return &Refusal{Incomplete, fmt.Sprintf(
			"%s is %q: must be a time of the credential's day, %s", dateHeader, r.Header.Get(dateHeader), date)}
	}
	if skew := a.now().Sub(at); skew > maxSkew || skew < -maxSkew {
		return &Refusal{Mismatch, fmt.Sprintf("Signature expired or not yet valid: it is of %s, and now is %s", at, a.now().UTC())}
	}
	secret, known := a.Secret(keyID)
	if !known {
		return &Refusal{UnknownKey, "The security token included in the request is invalid"}
	}
	again, err := sign(r, body, signed, aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}, a.Service, a.Region, at)
	if err != nil || subtle.ConstantTimeCompare([]byte(again), []byte(signature)) != 1 {
		return &Refusal{Mismatch, "The request signature we calculated does not match the signature you provided. " +
			"The local cloud does not support signed user-agent headers"}
	}
	return nil
}

func (a API) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// unsigned returns a header that decides what a request does and is not signed, "" if there is
// none.
func unsigned(r *http.Request, signed []string) string {
	if !slices.Contains(signed, "host") {
		return "host"
	}
	for name := range r.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && name != "x-amz-content-sha256" && !slices.Contains(signed, name) {
			return name
		}
	}
	return ""
}

// sign returns the signature of a request with those of its headers that its own covers.
func sign(r *http.Request, body []byte, signed []string, key aws.Credentials, service, region string, at time.Time) (string, error) {
	url := *r.URL // the signer sorts its query
	same := &http.Request{Method: r.Method, URL: &url, Host: r.Host, Header: http.Header{}}
	for _, name := range signed {
		switch name {
		case "host":
		case "content-length":
			same.ContentLength = int64(len(body)) // the signer takes it from here
		default:
			same.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(context.Background(), key, same, hex.EncodeToString(sum[:]), service, region, at); err != nil {
		return "", fmt.Errorf("sign the request again: %w", err)
	}
	_, signature, _ := strings.Cut(same.Header.Get("Authorization"), "Signature=")
	return signature, nil
}
