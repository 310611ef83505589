package record

const (
	bucketType = "aws:s3/bucketV2:BucketV2"
	objectType = "aws:s3/bucketObjectv2:BucketObjectv2"
)

// HoldsObjects reports whether a bucket holds objects: what the engine has put there
// and neither deleted nor lost with the bucket. A retained object remains.
func (a *Account) HoldsObjects(bucket string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.objects[bucket]) > 0
}

// addObject requires a.mu.
func (a *Account) addObject(bucket, key string) {
	if a.objects[bucket] == nil {
		a.objects[bucket] = map[string]bool{}
	}
	a.objects[bucket][key] = true
}

// removeObjects removes the objects of a bucket that goes. It requires a.mu.
func (a *Account) removeObjects(bucket string) {
	for key := range a.objects[bucket] {
		delete(a.existing, objectType+" "+key)
	}
	delete(a.objects, bucket)
}
