package emrapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// fault is an error as the API answers it.
type fault struct {
	status  int
	kind    string // exception name, the SDKs' error code
	code    string // ErrorCode member, may be empty
	message string
}

func (f *fault) Error() string { return f.kind + ": " + f.message }

// invalidRequest is the modelled error of the newer operations.
func invalidRequest(format string, args ...any) error {
	return &fault{http.StatusBadRequest, "InvalidRequestException", "InvalidRequest", fmt.Sprintf(format, args...)}
}

// validation is the error of the job flow operations (AddJobFlowSteps,
// TerminateJobFlows, SetTerminationProtection), which model no other.
func validation(format string, args ...any) error {
	return &fault{http.StatusBadRequest, "ValidationException", "", fmt.Sprintf(format, args...)}
}

// writeFault answers with an error; one that is no fault of the request is an
// InternalServerException, which the SDKs retry.
func writeFault(w http.ResponseWriter, err error) {
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{http.StatusInternalServerError, "InternalServerException", "", err.Error()}
	}
	body := map[string]string{"__type": f.kind, "Message": f.message}
	if f.code != "" {
		body["ErrorCode"] = f.code
	}
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, f.status, data)
}
