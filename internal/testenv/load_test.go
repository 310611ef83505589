package testenv

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Four busy goroutines for each CPU leave the calibration a fifth of the machine.
func TestCalibrationNoticesLoad(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	idle := min(calibrate(), calibrate(), calibrate())
	for range 4 * runtime.NumCPU() {
		go func() {
			for !stop.Load() {
				calibrationWork()
			}
		}()
	}
	require.Greater(t, calibrate(), idle)
}
