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

// load measures how many times longer this machine takes for the same work than an idle
// one. Tests ask often: a measurement holds for some seconds.
type load struct {
	mu       sync.Mutex
	measured time.Time
	slowdown float64 // from 1 to most
}

// holds is how long a measurement holds.
const holds = 5 * time.Second

var machine load

func (l *load) now() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.measured) > holds {
		l.slowdown = min(max(float64(calibrate())/float64(calibrationTime), 1), most)
		l.measured = time.Now()
	}
	return l.slowdown
}

// calibrate returns how long all CPUs take together, each for the calibration's work.
func calibrate() time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(calibrationWork)
	}
	all.Wait()
	return time.Since(began)
}

// calibrationWork hashes with FNV, which no CPU has instructions for.
func calibrationWork() {
	hash := fnv.New64a()
	var block [1 << 16]byte
	for range calibrationBlocks {
		_, _ = hash.Write(block[:])
	}
}
