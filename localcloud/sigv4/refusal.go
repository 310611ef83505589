package sigv4

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
)

// Refusal is why a request is refused.
type Refusal struct {
	Reason  Reason
	Message string
}

// Reason is a kind of refusal. Each protocol has a code of its own for it.
type Reason int

// Reasons.
const (
	Missing    Reason = iota // no signature
	Incomplete               // it cannot be read, or leaves out what decides what is done
	UnknownKey
	Mismatch // of another request, another time, or with another secret
)

// JSON answers as the APIs of JSON 1.1 do, such as EMR's (EMR API Reference, "Common Errors").
func JSON(w http.ResponseWriter, refusal Refusal) {
	code := map[Reason]string{
		Missing: "MissingAuthenticationTokenException", Incomplete: "IncompleteSignatureException",
		UnknownKey: "UnrecognizedClientException", Mismatch: "InvalidSignatureException",
	}[refusal.Reason]
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": refusal.Message}) // the client may be gone
}

// Query answers as the APIs of the Query protocol do, such as IAM's (IAM API Reference, "Common
// Errors").
func Query(w http.ResponseWriter, refusal Refusal) {
	code := map[Reason]string{
		Missing: "MissingAuthenticationToken", Incomplete: "IncompleteSignature", UnknownKey: "InvalidClientTokenId",
		Mismatch: "SignatureDoesNotMatch",
	}[refusal.Reason]
	status := http.StatusForbidden
	if refusal.Reason == Incomplete {
		status = http.StatusBadRequest
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct { // the client may be gone
		XMLName xml.Name `xml:"ErrorResponse"`
		Type    string   `xml:"Error>Type"`
		Code    string   `xml:"Error>Code"`
		Message string   `xml:"Error>Message"`
	}{Type: "Sender", Code: code, Message: refusal.Message})
}
