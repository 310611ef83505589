package testenv

import (
	"bytes"
	"io"
	"net/http"
)

// AWSClient returns an HTTP client for clients of the AWS SDK that must not retry. The
// SDK closes a request's body when it has the header of the response. If net/http has
// not yet seen the end of that body, it takes this for a failed write and closes the
// connection while the response is read ("use of closed network connection",
// aws-sdk-go-v2 issue 2737). The SDK retries for this reason. This client sends a copy of
// the body, which the SDK cannot close.
func AWSClient() *http.Client { return &http.Client{Transport: inMemory{}} }

type inMemory struct{}

func (inMemory) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		if err := request.Body.Close(); err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	return http.DefaultTransport.RoundTrip(request)
}
