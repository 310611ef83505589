package sqs_test

import (
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/localcloud/sqs"
)

const (
	url = "https://sqs.us-east-1.amazonaws.com/123456789012/lost"
	arn = "arn:aws:sqs:us-east-1:123456789012:lost"
)

// A received message is hidden for the visibility timeout, comes again if it is not deleted, and outlives the
// process for the queue's retention.
func TestMessagesAreDeliveredAtLeastOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queues.json")
	clock := clocktest.NewFakePassiveClock(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	service := &sqs.Service{Path: path, Clock: clock, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, service.Open())
	require.NoError(t, service.Put(sqs.Queue{URL: url, ARN: arn, Retention: time.Hour, Visibility: 30 * time.Second}))
	require.ErrorContains(t, service.Send(arn+"2", "{}", nil), "no such queue")
	require.NoError(t, service.Send(arn, `{"a":1}`, map[string]string{"ERROR_CODE": "x"}))

	again := &sqs.Service{Path: path, Clock: clock, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, again.Open())
	api := httptest.NewServer(again)
	t.Cleanup(api.Close)
	client := awssqs.New(awssqs.Options{Region: "us-east-1", BaseEndpoint: aws.String(api.URL),
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})
	receive := func() []types.Message {
		out, err := client.ReceiveMessage(t.Context(), &awssqs.ReceiveMessageInput{QueueUrl: aws.String(url), MaxNumberOfMessages: 10,
			MessageAttributeNames: []string{"All"}})
		require.NoError(t, err)
		return out.Messages
	}
	first := receive()
	require.Len(t, first, 1)
	require.JSONEq(t, `{"a":1}`, aws.ToString(first[0].Body))
	require.Equal(t, "x", aws.ToString(first[0].MessageAttributes["ERROR_CODE"].StringValue))
	require.Empty(t, receive(), "hidden")
	clock.SetTime(clock.Now().Add(31 * time.Second))
	second := receive()
	require.Len(t, second, 1, "again")
	remove := func(m types.Message) {
		_, err := client.DeleteMessage(t.Context(), &awssqs.DeleteMessageInput{QueueUrl: aws.String(url), ReceiptHandle: m.ReceiptHandle})
		require.NoError(t, err)
	}
	remove(first[0]) // an old receipt deletes nothing
	clock.SetTime(clock.Now().Add(31 * time.Second))
	third := receive()
	require.Len(t, third, 1)
	remove(third[0])
	clock.SetTime(clock.Now().Add(31 * time.Second))
	require.Empty(t, receive())

	require.NoError(t, again.Send(arn, "{}", nil))
	clock.SetTime(clock.Now().Add(2 * time.Hour))
	require.Empty(t, receive(), "older than the retention")
	require.NoError(t, again.Delete(url))
	require.False(t, again.Exists(url))
	_, err := client.ReceiveMessage(t.Context(), &awssqs.ReceiveMessageInput{QueueUrl: aws.String(url)})
	var missing *types.QueueDoesNotExist
	require.ErrorAs(t, err, &missing)
}
