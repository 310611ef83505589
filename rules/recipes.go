package rules

// Recipe names a page of docs/recipes/troubleshoot: how to tell the cause of what a rule found,
// and how to cure it.
type Recipe string

// Recipes.
const (
	SlowJobs       Recipe = "slow-spark-jobs"
	DataSkew       Recipe = "data-skew-diagnosis"
	OOMAndSpill    Recipe = "oom-and-spill"
	ShuffleSlow    Recipe = "shuffle-bottleneck"
	GCPressure     Recipe = "gc-pressure"
	ResourceWaits  Recipe = "resource-wait-long"
	WriteSlow      Recipe = "s3-write-slow"
	RecipesFolder         = "docs/recipes/troubleshoot"
	recipeFileType        = ".md"
)

// Path returns the page's path in the project; "" without a recipe.
func (r Recipe) Path() string {
	if r == "" {
		return ""
	}
	return RecipesFolder + "/" + string(r) + recipeFileType
}

// Recipes lists all recipes; the first is where a reader begins who knows no cause yet.
func Recipes() []Recipe {
	return []Recipe{SlowJobs, DataSkew, OOMAndSpill, ShuffleSlow, GCPressure, ResourceWaits, WriteSlow}
}

// recipe returns the page about a rule of applications, "" for rules of machines.
func (r Rule) recipe() Recipe {
	switch r.ID {
	case Skew, SlowHost:
		return DataSkew
	case Spill, ExecutorMemory, MemoryOverheadLow, MemoryIdle, LargePartition, ResultLarge, LargeBroadcast:
		return OOMAndSpill
	case FetchWait, SmallBlocks, LargeShuffleReads, StageRetries, ExecutorsLost:
		return ShuffleSlow
	case GC:
		return GCPressure
	case ResourceWait, ExecutorChurn:
		return ResourceWaits
	case SlowWrite, SlowCommit, SmallFilesWritten, RenameCommit, S3Throttled:
		return WriteSlow
	}
	switch r.Subject {
	case OfApplication, OfStage, OfSQL:
		return SlowJobs
	case OfJVM, OfHost, OfCluster, OfPlatform:
	}
	return ""
}
