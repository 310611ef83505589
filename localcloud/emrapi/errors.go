package emrapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// apiError is an error in the form in which the API returns it.
type apiError struct {
	status  int
	kind    string // exception name, the SDKs' error code
	code    string // ErrorCode member, may be empty
	message string
}

func (e *apiError) Error() string { return e.kind + ": " + e.message }

// invalidRequestError returns the modelled error of the newer operations.
func invalidRequestError(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, "InvalidRequestException", "InvalidRequest", fmt.Sprintf(format, args...)}
}

// validationError returns the error with which the job flow operations (AddJobFlowSteps,
// TerminateJobFlows, SetTerminationProtection) reject a request. EMR's API model lists none
// for that, unlike InvalidRequestException of the newer operations.
func validationError(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, "ValidationException", "", fmt.Sprintf(format, args...)}
}

// writeError responds with an error. One that is not an apiError becomes an
// InternalServerException, which the SDKs retry.
func writeError(w http.ResponseWriter, err error) {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{http.StatusInternalServerError, "InternalServerException", "", err.Error()}
	}
	body := map[string]string{"__type": e.kind, "Message": e.message}
	if e.code != "" {
		body["ErrorCode"] = e.code
	}
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeResponse(w, e.status, data)
}
