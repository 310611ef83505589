package sqs

import (
	"crypto/md5" //nolint:gosec // the API's own checksum
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

const (
	targetPrefix = "AmazonSQS." // of X-Amz-Target
	maxBody      = 1 << 20
	maxMessages  = 10 // of one ReceiveMessage
)

var errNoQueue = errors.New("the specified queue does not exist")

// request has the members of the inputs that are served.
type request struct {
	QueueURL            string `json:"QueueUrl"`
	MaxNumberOfMessages int
	ReceiptHandle       string
}

// attribute is a message attribute (SQS API Reference, MessageAttributeValue).
type attribute struct {
	DataType, StringValue string
}

// received is a message of an answer.
type received struct {
	MessageID         string               `json:"MessageId"`
	ReceiptHandle     string               `json:"ReceiptHandle"`
	MD5OfBody         string               `json:"MD5OfBody"`
	Body              string               `json:"Body"`
	Attributes        map[string]string    `json:"Attributes"`
	MessageAttributes map[string]attribute `json:"MessageAttributes,omitempty"`
}

// ServeHTTP serves SQS's API (AWS JSON 1.0). The answer to ReceiveMessage comes at once: it waits for
// no message.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	var in request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		refuse(w, "com.amazonaws.sqs#InvalidMessageContents", err.Error())
		return
	}
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	answer, err := s.answer(operation, in)
	switch {
	case errors.Is(err, errNoQueue):
		refuse(w, "com.amazonaws.sqs#QueueDoesNotExist", err.Error())
	case err != nil:
		s.Log.Error("SQS", "operation", operation, "error", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case answer == nil:
		refuse(w, "com.amazonaws.sqs#UnsupportedOperation",
			"the local SQS supports ReceiveMessage and DeleteMessage, not "+operation)
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func refuse(w http.ResponseWriter, kind, message string) {
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": message})
}

// answer returns nil for an operation that is not served.
func (s *Service) answer(operation string, in request) (any, error) {
	switch operation {
	case "ReceiveMessage":
		found, err := s.receive(in.QueueURL, min(max(in.MaxNumberOfMessages, 1), maxMessages))
		return map[string]any{"Messages": messages(found)}, err
	case "DeleteMessage":
		return map[string]any{}, s.remove(in.QueueURL, in.ReceiptHandle)
	default:
		return nil, nil
	}
}

func messages(found []message) []received {
	out := make([]received, 0, len(found))
	for _, m := range found {
		sum := md5.Sum([]byte(m.Body)) //nolint:gosec // what the API has: clients compare it
		of := received{
			MessageID: m.ID, ReceiptHandle: m.Receipt, MD5OfBody: hex.EncodeToString(sum[:]), Body: m.Body,
			Attributes: map[string]string{
				"SentTimestamp": strconv.FormatInt(m.Sent.UnixMilli(), 10), "ApproximateReceiveCount": strconv.Itoa(m.Received),
			},
			MessageAttributes: map[string]attribute{},
		}
		for name, value := range m.Attributes {
			of.MessageAttributes[name] = attribute{DataType: "String", StringValue: value}
		}
		out = append(out, of)
	}
	return out
}
