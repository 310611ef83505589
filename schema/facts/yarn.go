package facts

// YARNMemoryMiB returns yarn.nodemanager.resource.memory-mb as EMR sets it on the
// type, without HBase: a quarter of the memory, at least 2 and at most 8 GiB, stays
// with the system and the daemons. EMR publishes only the results (Release Guide,
// "Task configuration"); testdata/taskconfig.json has those that were read.
func (t InstanceType) YARNMemoryMiB() int {
	const leastMiB, mostMiB, share = 2048, 8192, 4
	return max(0, t.EMR.MemoryMiB-min(max(t.EMR.MemoryMiB/share, leastMiB), mostMiB))
}

// YARNVCores returns yarn.nodemanager.resource.cpu-vcores as EMR sets it (Management
// Guide, "Supported instance types": the number of vCPUs that EMR shows is that of
// YARN's vcores).
func (t InstanceType) YARNVCores() int { return t.EMR.VCPUs }

// YARNMemoryBesideHBaseMiB returns the most that yarn.nodemanager.resource.memory-mb is
// where EMR installs HBase too. HBase takes half of it; of 114 GiB and more it takes
// 28.5 GiB to 30.5 GiB (Release Guide, "Task configuration", "With HBase installed").
func (t InstanceType) YARNMemoryBesideHBaseMiB() int {
	const mostMiB = 29184
	without := t.YARNMemoryMiB()
	return without - min(without/2, mostMiB)
}

// What a container of an executor has beside its heap, unless set: EMR's own share of the heap,
// where Spark's is 0.1, and the least of both (EMR Release Guide, "Amazon EMR release 5.22.0").
const (
	ExecutorOverhead = 0.1875
	LeastOverheadMiB = 384
)
