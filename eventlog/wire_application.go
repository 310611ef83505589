package eventlog

// The types of the files wire_….go are the parts of Spark's JSON that this project uses
// (org.apache.spark.util.JsonProtocol; events of SQL and exclusions: Jackson's view of
// the case classes). What a version of Spark leaves out is zero.

//easyjson:json
type logStart struct {
	Version string `json:"Spark Version"`
}

func (j *logStart) event(*decoder) Event { return &LogStart{SparkVersion: j.Version} }

//easyjson:json
type applicationStart struct {
	Name       string            `json:"App Name"`
	ID         string            `json:"App ID"`
	Time       int64             `json:"Timestamp"`
	User       string            `json:"User"`
	Attempt    string            `json:"App Attempt ID"`
	DriverLogs map[string]string `json:"Driver Logs"`
}

func (j *applicationStart) event(*decoder) Event {
	return &ApplicationStart{Time: j.Time, Name: j.Name, ID: j.ID, User: j.User, Attempt: j.Attempt, DriverLogs: j.DriverLogs}
}

//easyjson:json
type applicationEnd struct {
	Time int64 `json:"Timestamp"`
}

func (j *applicationEnd) event(*decoder) Event { return &ApplicationEnd{Time: j.Time} }

//easyjson:json
type environmentUpdate struct {
	JVM     map[string]string `json:"JVM Information"`
	Spark   map[string]string `json:"Spark Properties"`
	Hadoop  map[string]string `json:"Hadoop Properties"`
	System  map[string]string `json:"System Properties"`
	Metrics map[string]string `json:"Metrics Properties"`
}

func (j *environmentUpdate) event(*decoder) Event {
	return &EnvironmentUpdate{JVM: j.JVM, Spark: j.Spark, Hadoop: j.Hadoop, System: j.System, Metrics: j.Metrics}
}

//easyjson:json
type executorAdded struct {
	Time int64  `json:"Timestamp"`
	ID   string `json:"Executor ID"`
	Info struct {
		Host            string            `json:"Host"`
		Cores           int64             `json:"Total Cores"`
		Logs            map[string]string `json:"Log Urls"`
		ResourceProfile *int64            `json:"Resource Profile Id"`
	} `json:"Executor Info"`
}

func (j *executorAdded) event(d *decoder) Event {
	i := &j.Info
	return &ExecutorAdded{
		Time: j.Time, ID: d.words.of(j.ID), Host: d.words.of(i.Host), Cores: i.Cores, Logs: i.Logs, ResourceProfile: i.ResourceProfile,
	}
}

//easyjson:json
type resourceProfileAdded struct {
	ID    int64 `json:"Resource Profile Id"`
	Tasks struct {
		CPUs struct {
			Amount float64 `json:"Amount"`
		} `json:"cpus"`
	} `json:"Task Resource Requests"`
}

func (j *resourceProfileAdded) event(*decoder) Event {
	return &ResourceProfileAdded{ID: j.ID, TaskCPUs: j.Tasks.CPUs.Amount}
}

//easyjson:json
type executorRemoved struct {
	Time   int64  `json:"Timestamp"`
	ID     string `json:"Executor ID"`
	Reason string `json:"Removed Reason"`
}

func (j *executorRemoved) event(d *decoder) Event {
	return &ExecutorRemoved{Time: j.Time, ID: d.words.of(j.ID), Reason: j.Reason}
}

// executorExcluded is of an executor or of all those of a node.
//
//easyjson:json
type executorExcluded struct {
	Time    int64  `json:"time"`
	ID      string `json:"executorId"`
	Host    string `json:"hostId"`
	Stage   *int64 `json:"stageId"`
	Attempt int64  `json:"stageAttemptId"`
}

func (j *executorExcluded) event(d *decoder) Event {
	return &ExecutorExcluded{Time: j.Time, ID: d.words.of(j.ID), Host: d.words.of(j.Host), Stage: j.Stage, Attempt: j.Attempt}
}

//easyjson:json
type executorUnexcluded struct{ executorExcluded }

func (j *executorUnexcluded) event(d *decoder) Event {
	return &ExecutorExcluded{Time: j.Time, ID: d.words.of(j.ID), Host: d.words.of(j.Host), Undo: true}
}

type blockManagerID struct {
	Executor string `json:"Executor ID"`
	Host     string `json:"Host"`
	Port     int64  `json:"Port"`
}

//easyjson:json
type blockManagerAdded struct {
	ID      blockManagerID `json:"Block Manager ID"`
	Memory  int64          `json:"Maximum Memory"`
	Time    int64          `json:"Timestamp"`
	OnHeap  *int64         `json:"Maximum Onheap Memory"`
	OffHeap *int64         `json:"Maximum Offheap Memory"`
}

func (j *blockManagerAdded) event(d *decoder) Event {
	return &BlockManagerAdded{
		Time: j.Time, Executor: d.words.of(j.ID.Executor), Host: d.words.of(j.ID.Host), Port: j.ID.Port,
		MaxMemory: j.Memory, MaxOnHeap: j.OnHeap, MaxOff: j.OffHeap,
	}
}

//easyjson:json
type blockManagerRemoved struct {
	ID   blockManagerID `json:"Block Manager ID"`
	Time int64          `json:"Timestamp"`
}

func (j *blockManagerRemoved) event(d *decoder) Event {
	return &BlockManagerRemoved{Time: j.Time, Executor: d.words.of(j.ID.Executor)}
}
