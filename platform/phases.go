package platform

// Phase labels an instant of an application's wall clock. Each instant has exactly
// one.
type Phase string

// The phases.
const (
	PhaseDriver       Phase = "driver"        // the driver alone: planning, collecting, the user's own code
	PhaseSubmit       Phase = "submit"        // cluster mode: from submission until the job's context starts
	PhaseResourceWait Phase = "resource_wait" // no executor can run what is there; the context waits to start
	PhaseCompute      Phase = "compute"       // a task runs, and none that writes
	PhaseWrite        Phase = "io_write"      // a write task runs, or a write commits
	PhaseIdle         Phase = "idle"          // a session server has nothing to do
)

// Word is the phase's name in texts for people.
func (p Phase) Word() string {
	switch p {
	case PhaseResourceWait:
		return "wait"
	case PhaseWrite:
		return "write"
	case PhaseDriver, PhaseSubmit, PhaseCompute, PhaseIdle:
	}
	return string(p)
}

// Phases lists the phases; a phase's index is its value in the metric of the current phase.
func Phases() []Phase {
	return []Phase{PhaseDriver, PhaseSubmit, PhaseResourceWait, PhaseCompute, PhaseWrite, PhaseIdle}
}

// A trace's budget, below what Tempo accepts of one (max_bytes_per_trace). What is over
// it is counted on the trace's root.
const (
	SpanBudget      = 20_000
	SpanBudgetBytes = 10 << 20
)

// SessionServers are what the command line of a driver contains that serves sessions
// and has nothing to do between them.
func SessionServers() []string {
	return []string{
		"org.apache.spark.repl.Main", "pyspark-shell", "sparkr-shell", "HiveThriftServer2", "SparkConnectServer",
		"org.apache.livy.rsc.driver.RSCDriverBootstrapper", "SparkSQLCLIDriver",
	}
}

// SparkWriteCommands are names of plan nodes that write (Spark 3.4 to 4.0,
// SparkPlanInfo.nodeName): a plan writes if the name of one of its nodes contains one.
func SparkWriteCommands() []string {
	return []string{
		"InsertIntoHadoopFsRelationCommand", "InsertIntoHiveTable", "InsertIntoHiveDirCommand",
		"InsertIntoDataSourceCommand", "InsertIntoDataSourceDirCommand", "SaveIntoDataSourceCommand",
		"CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand",
		"WriteFiles", "AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic", "ReplaceData", "WriteDelta",
		"WriteToDataSourceV2", "WriteToContinuousDataSource", "CreateTableAsSelect", "ReplaceTableAsSelect",
	}
}
