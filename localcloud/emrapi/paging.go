package emrapi

import (
	"encoding/base64"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// pageSize is the number of items that a list operation returns at once (API
// reference of ListClusters and ListSteps; undocumented for the others).
const pageSize = 50

// page returns the first page of matching items after marker, and the next marker.
// A marker names the last item examined, so that pages neither repeat nor lose items
// when newer ones appear at the head of the list.
func page[T any](items []T, marker *string, id func(T) *string, match func(T) bool) ([]T, *string, error) {
	start := 0
	if marker != nil {
		last, err := base64.RawURLEncoding.DecodeString(*marker)
		at := slices.IndexFunc(items, func(item T) bool { return aws.ToString(id(item)) == string(last) })
		if err != nil || at < 0 {
			return nil, nil, invalidRequestError("Marker '%s' is not valid.", *marker)
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

// matches reports whether a filter contains value; an empty filter matches all.
func matches[T comparable](filter []T, value T) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}
