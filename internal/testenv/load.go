package testenv

import (
	"hash/fnv"
	"runtime"
	"sync"
	"time"
)

// The calibration's work, and how long an idle machine of two cores takes for it. It
// outlasts the time slices of the kernel's scheduler: other processes have their turns
// meanwhile.
const (
	calibrationBlocks = 640 // of 64 KiB
	calibrationTime   = 60 * time.Millisecond
)

// most is the largest slowdown that limits allow for: a machine that is slower still
// should fail its tests.
const most = 20

// slowdown returns how many times longer this machine takes now for the same work than
// an idle one: from 1 to most.
func slowdown() float64 {
	return min(max(float64(calibrate())/float64(calibrationTime), 1), most)
}

// calibrate returns how long all CPUs take together, each for the calibration's work.
func calibrate() time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() { _ = calibrationWork() })
	}
	all.Wait()
	return time.Since(began)
}

// calibrationWork hashes with FNV, which no CPU has instructions for.
func calibrationWork() uint64 {
	hash := fnv.New64a()
	var block [1 << 16]byte
	for range calibrationBlocks {
		_, _ = hash.Write(block[:])
	}
	return hash.Sum64()
}
