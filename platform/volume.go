package platform

import "fmt"

// The control node's data volume holds the folders of all its servers. Its
// provisioner enforces no size for any of them; the servers' own limits do.
const (
	// MinDataVolumeGiB is twice the stores' reserve and the servers' folders;
	// with less, the images alone fill the disk. MaxDataVolumeGiB is gp3's limit
	// (EBS User Guide, "General Purpose SSD volumes").
	MinDataVolumeGiB = 20
	MaxDataVolumeGiB = 16384

	// ControlRootGiB holds the system, logs of pods and K3s itself; images and data are on
	// the data volume.
	ControlRootGiB = 30
	// ControlVolumeType is the EBS type of both volumes.
	ControlVolumeType = "gp3"

	// EvictionGiB is the free space on the volume below which the kubelet evicts
	// pods. It cannot clear their folders. It is less than the reserve: at the
	// kubelet's default of 5 %, the stores on a large volume would be evicted
	// before they refuse data.
	EvictionGiB = 1

	// LogsPercent is the log store's share of the volume. Above it the store
	// deletes its oldest days, except the last two, whatever the retention.
	LogsPercent = 45
)

// writeAheadGiB is for the write-ahead logs of the stores without backpressure,
// Tempo and Pyroscope. Tempo acknowledges before it writes, and drops spans that
// do not fit (modules/ingester/instance.go, CutCompleteTraces).
const writeAheadGiB = 2

// TraceCopyQueueGiB bounds the collector's queue for the second destination of traces.
const TraceCopyQueueGiB = 1

// StoreReserveGiB returns the free space, in GiB, below which the stores with backpressure
// (VictoriaMetrics and VictoriaLogs) refuse data. The collector then queues the data
// (decision 6). The reserve holds the collector's queues, the copy of one queue that it
// makes at startup (file_storage compaction), and writeAheadGiB. A store that is merging
// may temporarily use part of it.
func (t WorkloadTable) StoreReserveGiB() int {
	queues, largest := 0, 0
	for _, r := range t.Stores() {
		queues += r.Intake.QueueGiB
		largest = max(largest, r.Intake.QueueGiB)
	}
	return queues + largest + writeAheadGiB
}

// StoreReserveGiB returns the reserve of the platform's own Workloads.
func StoreReserveGiB() int { return Workloads().StoreReserveGiB() }

// ValidDataVolume reports whether a data volume may have the size.
func ValidDataVolume(gib int) bool { return gib >= MinDataVolumeGiB && gib <= MaxDataVolumeGiB }

// DataVolumeRule returns the rule that an invalid size violates, for error messages.
func DataVolumeRule() string {
	return fmt.Sprintf("must be %d to %d", MinDataVolumeGiB, MaxDataVolumeGiB)
}
