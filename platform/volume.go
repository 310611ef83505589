package platform

import "fmt"

// The control node's data volume holds all of its servers' folders, and its
// provisioner gives none of them a size: the servers' own bounds do.
const (
	// MinDataVolumeGiB holds the reserve below twice and the servers' folders; with
	// less the images alone fill the disk. MaxDataVolumeGiB is gp3's (EBS User
	// Guide, "General Purpose SSD volumes").
	MinDataVolumeGiB = 20
	MaxDataVolumeGiB = 16384

	// QueueGiB bounds each of the control node's collector's three queues. A full
	// one refuses the nodes, who keep the data on their own disks.
	QueueGiB = 1

	// StoreReserveGiB is what VictoriaMetrics and VictoriaLogs leave free: they
	// stop taking before the volume is full, and the collector keeps what they do
	// not take. It holds the three queues, the copy that the collector makes of
	// one when it starts (filestorage compacts), and 2 GiB for what cannot refuse:
	// the write-ahead logs of Tempo and Pyroscope. Tempo answers before it writes,
	// and drops the spans that do not fit (modules/ingester/instance.go,
	// CutCompleteTraces). A merge of a store that has begun goes on, and may take
	// part of it for its while.
	StoreReserveGiB = 3*QueueGiB + QueueGiB + 2

	// EvictionGiB is the free room on the volume below which the kubelet ends
	// pods, whose folders it cannot clear. It is less than the reserve: at the
	// kubelet's own 5 % a large volume's stores would end before they refuse.
	EvictionGiB = 1

	// LogsPercent is the log store's share of the volume: its oldest days but the
	// last two go before it takes more, whatever the retention says.
	LogsPercent = 45
)

// ValidDataVolume holds a size of the data volume against its bounds.
func ValidDataVolume(gib int) bool { return gib >= MinDataVolumeGiB && gib <= MaxDataVolumeGiB }

// DataVolumeRule is what a size that is not valid breaks, in words.
func DataVolumeRule() string {
	return fmt.Sprintf("must be %d to %d", MinDataVolumeGiB, MaxDataVolumeGiB)
}
