package emrapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/schemas"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// wire is the protocol of the SDK's own client. Its encoder writes any shape of the
// service, also responses, so they cannot differ from what the SDK reads.
var (
	wire = awsjson.New11(schemas.ElasticMapReduce)

	// anyOperation makes the encoder write a body; which operation does not matter.
	anyOperation = smithy.NewOperationSchema(
		schemas.DescribeCluster, schemas.DescribeClusterInput, schemas.DescribeClusterOutput)
)

// encode renders the JSON 1.1 body of a response.
func encode(shape smithy.Serializable) ([]byte, error) {
	request, ok := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	if !ok {
		return nil, fmt.Errorf("encode %T: the SDK gave no HTTP request to write to", shape)
	}
	if err := wire.SerializeRequest(context.Background(), anyOperation, shape, request); err != nil {
		return nil, fmt.Errorf("encode %T: %w", shape, err)
	}
	body, err := io.ReadAll(request.GetStream())
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", shape, err)
	}
	return body, nil
}

// decode reads a request into an SDK input. The SDK has no decoder for inputs. Their
// field names are the wire names, so only times need a type of their own
// (listClustersInput).
func decode(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}

// listClustersInput hides the two times of emr.ListClustersInput behind fields
// of the same name that read epoch seconds.
type listClustersInput struct {
	emr.ListClustersInput
	CreatedAfter  *epochSeconds
	CreatedBefore *epochSeconds
}

// epochSeconds is a time written as a JSON number of seconds since 1970.
type epochSeconds struct{ time.Time }

// UnmarshalJSON reads the number.
func (e *epochSeconds) UnmarshalJSON(data []byte) error {
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	whole, fraction := math.Modf(seconds)
	e.Time = time.Unix(int64(whole), int64(fraction*float64(time.Second))).UTC()
	return nil
}

// clone copies a shape deeply, through JSON, as the state on disk is.
func clone[T any](shape T) (T, error) {
	var copied T
	data, err := json.Marshal(shape)
	if err != nil {
		return copied, fmt.Errorf("copy %T: %w", shape, err)
	}
	if err := json.Unmarshal(data, &copied); err != nil {
		return copied, fmt.Errorf("copy %T: %w", shape, err)
	}
	return copied, nil
}
