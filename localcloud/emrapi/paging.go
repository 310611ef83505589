package emrapi

import (
	"encoding/base64"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// pageSize is how much the list operations answer at once (API reference of
// ListClusters and ListSteps; not stated for the others).
const pageSize = 50

// page cuts the page after marker out of a list and keeps of it what matches.
// A marker names the last item that was looked at, so that a page neither
// repeats nor loses items when newer ones appear at the head of the list.
func page[T any](items []T, marker *string, id func(T) *string, match func(T) bool) ([]T, *string, error) {
	start := 0
	if marker != nil {
		last, err := base64.RawURLEncoding.DecodeString(*marker)
		at := slices.IndexFunc(items, func(item T) bool { return aws.ToString(id(item)) == string(last) })
		if err != nil || at < 0 {
			return nil, nil, invalidRequest("Marker '%s' is not valid.", *marker)
		}
		start = at + 1
	}
	found := []T{}
	for i, item := range items[start:] {
		if !match(item) {
			continue
		}
		if len(found) == pageSize {
			previous := aws.ToString(id(items[start+i-1]))
			return found, aws.String(base64.RawURLEncoding.EncodeToString([]byte(previous))), nil
		}
		found = append(found, item)
	}
	return found, nil, nil
}

// in matches everything when nothing is asked for.
func in[T comparable](asked []T, value T) bool {
	return len(asked) == 0 || slices.Contains(asked, value)
}
