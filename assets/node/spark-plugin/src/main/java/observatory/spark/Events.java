package observatory.spark;

import java.util.Set;

/** Where the fields of Spark's listener events are. */
final class Events {
  private static final String SCHEDULER = "org.apache.spark.scheduler.";
  private static final String SQL = "org.apache.spark.sql.execution.ui.SparkListener";

  static final Accessor ITERATOR = Accessor.of("scala.collection.Iterable", "iterator");

  private Events() {}

  /** Looks for all of it now, and says what this Spark lacks. */
  static void probe(Faults faults) {
    try {
      for (Class<?> group : Events.class.getDeclaredClasses()) {
        Class.forName(group.getName()); // runs the static initializer
      }
      Class.forName(PlanWrites.class.getName());
    } catch (ClassNotFoundException | LinkageError e) {
      faults.say("events of Spark's cannot be read", e);
    }
    Set<String> missing = Accessor.missing();
    if (!missing.isEmpty()) {
      faults.say("this Spark lacks what some metrics need", missing);
    }
  }

  /** Tells whether this Spark has every time that phases are made of. */
  static boolean haveTimes() {
    Accessor[] times = {
      App.START, App.END, Executors.ADDED, Executors.REMOVED, Executors.BLOCKS_TIME, Jobs.START, Jobs.END,
      Stages.SUBMITTED, Stages.COMPLETED, Tasks.LAUNCHED, Tasks.FINISHED
    };
    for (Accessor time : times) {
      if (!time.exists()) {
        return false;
      }
    }
    return true;
  }

  private static Accessor event(String name, String method) {
    return Accessor.of(SCHEDULER + "SparkListener" + name, method);
  }

  /** Applications and the environment. */
  static final class App {
    static final Accessor NAME = event("ApplicationStart", "appName");
    static final Accessor ID = event("ApplicationStart", "appId");
    static final Accessor ATTEMPT = event("ApplicationStart", "appAttemptId");
    static final Accessor START = event("ApplicationStart", "time");
    static final Accessor END = event("ApplicationEnd", "time");

    private App() {}
  }

  static final class Executors {
    static final Accessor ADDED = event("ExecutorAdded", "time");
    static final Accessor ADDED_ID = event("ExecutorAdded", "executorId");
    static final Accessor INFO = event("ExecutorAdded", "executorInfo");
    static final Accessor REMOVED = event("ExecutorRemoved", "time");
    static final Accessor REMOVED_ID = event("ExecutorRemoved", "executorId");
    static final Accessor REASON = event("ExecutorRemoved", "reason");
    static final Accessor BLOCKS_TIME = event("BlockManagerAdded", "time");
    static final Accessor BLOCKS_ID = event("BlockManagerAdded", "blockManagerId");
    static final Accessor BLOCKS_EXECUTOR = Accessor.of("org.apache.spark.storage.BlockManagerId", "executorId");
    static final Accessor HOST = Accessor.of(SCHEDULER + "cluster.ExecutorInfo", "executorHost");
    static final Accessor CORES = Accessor.of(SCHEDULER + "cluster.ExecutorInfo", "totalCores");
    static final Accessor PROFILE = Accessor.of(SCHEDULER + "cluster.ExecutorInfo", "resourceProfileId");
    static final Accessor REQUESTED = Accessor.of(SCHEDULER + "cluster.ExecutorInfo", "requestTime");
    static final Accessor REGISTERED = Accessor.of(SCHEDULER + "cluster.ExecutorInfo", "registrationTime");

    private Executors() {}
  }

  /** Events of executors, or all of a host, that get no more tasks, or get them again. */
  static final class Exclusion {
    static final Exclusion EXECUTOR = new Exclusion("ExecutorExcluded", false, false);
    static final Exclusion EXECUTOR_UNDONE = new Exclusion("ExecutorUnexcluded", false, false);
    static final Exclusion EXECUTOR_OF_STAGE = new Exclusion("ExecutorExcludedForStage", false, true);
    static final Exclusion HOST = new Exclusion("NodeExcluded", true, false);
    static final Exclusion HOST_UNDONE = new Exclusion("NodeUnexcluded", true, false);
    static final Exclusion HOST_OF_STAGE = new Exclusion("NodeExcludedForStage", true, true);

    final boolean host;
    final boolean undo;
    final Accessor time;
    final Accessor who;

    /** null if it is not of one attempt of a stage. */
    final Accessor stage;

    final Accessor attempt;

    private Exclusion(String name, boolean host, boolean ofStage) {
      this.host = host;
      undo = name.contains("Unexcluded");
      time = event(name, "time");
      who = event(name, host ? "hostId" : "executorId");
      stage = ofStage ? event(name, "stageId") : null;
      attempt = ofStage ? event(name, "stageAttemptId") : null;
    }
  }

  static final class Jobs {
    static final Accessor ID = event("JobStart", "jobId");
    static final Accessor START = event("JobStart", "time");
    static final Accessor STAGES = event("JobStart", "stageInfos");
    static final Accessor PROPERTIES = event("JobStart", "properties");
    static final Accessor ENDED_ID = event("JobEnd", "jobId");
    static final Accessor END = event("JobEnd", "time");
    static final Accessor RESULT = event("JobEnd", "jobResult");
    static final Accessor FAILURE = Accessor.of(SCHEDULER + "JobFailed", "exception");

    private Jobs() {}
  }

  static final class Stages {
    static final Accessor SUBMITTED_INFO = event("StageSubmitted", "stageInfo");
    static final Accessor COMPLETED_INFO = event("StageCompleted", "stageInfo");
    static final Accessor ID = info("stageId");
    static final Accessor ATTEMPT = info("attemptNumber");
    static final Accessor NAME = info("name");
    static final Accessor TASKS = info("numTasks");
    static final Accessor SUBMITTED = info("submissionTime");
    static final Accessor COMPLETED = info("completionTime");
    static final Accessor FAILURE = info("failureReason");
    static final Accessor SHUFFLE = info("shuffleDepId");
    static final Accessor PROFILE = info("resourceProfileId");

    private Stages() {}

    private static Accessor info(String method) {
      return Accessor.of(SCHEDULER + "StageInfo", method);
    }
  }

  static final class Tasks {
    static final Accessor START_STAGE = event("TaskStart", "stageId");
    static final Accessor START_ATTEMPT = event("TaskStart", "stageAttemptId");
    static final Accessor START_INFO = event("TaskStart", "taskInfo");
    static final Accessor STAGE = event("TaskEnd", "stageId");
    static final Accessor ATTEMPT = event("TaskEnd", "stageAttemptId");
    static final Accessor TYPE = event("TaskEnd", "taskType");
    static final Accessor REASON = event("TaskEnd", "reason");
    static final Accessor INFO = event("TaskEnd", "taskInfo");
    static final Accessor METRICS = event("TaskEnd", "taskMetrics");
    static final Accessor ID = info("taskId");
    static final Accessor LAUNCHED = info("launchTime");
    static final Accessor FINISHED = info("finishTime");
    static final Accessor GETTING_RESULT = info("gettingResultTime");
    static final Accessor EXECUTOR = info("executorId");
    static final Accessor FAILED = info("failed");
    static final Accessor KILLED = info("killed");

    private Tasks() {}

    private static Accessor info(String method) {
      return Accessor.of(SCHEDULER + "TaskInfo", method);
    }
  }

  static final class Metrics {
    private static final String EXECUTOR = "org.apache.spark.executor.";

    static final Accessor RUN = of("TaskMetrics", "executorRunTime");
    static final Accessor CPU = of("TaskMetrics", "executorCpuTime");
    static final Accessor DESERIALIZE = of("TaskMetrics", "executorDeserializeTime");
    static final Accessor SERIALIZE = of("TaskMetrics", "resultSerializationTime");
    static final Accessor GC = of("TaskMetrics", "jvmGCTime");
    static final Accessor PEAK_MEMORY = of("TaskMetrics", "peakExecutionMemory");
    static final Accessor MEMORY_SPILLED = of("TaskMetrics", "memoryBytesSpilled");
    static final Accessor DISK_SPILLED = of("TaskMetrics", "diskBytesSpilled");
    static final Accessor INPUT = of("TaskMetrics", "inputMetrics");
    static final Accessor OUTPUT = of("TaskMetrics", "outputMetrics");
    static final Accessor SHUFFLE_READ = of("TaskMetrics", "shuffleReadMetrics");
    static final Accessor SHUFFLE_WRITE = of("TaskMetrics", "shuffleWriteMetrics");
    static final Accessor BYTES_READ = of("InputMetrics", "bytesRead");
    static final Accessor BYTES_WRITTEN = of("OutputMetrics", "bytesWritten");
    static final Accessor RECORDS_WRITTEN = of("OutputMetrics", "recordsWritten");
    static final Accessor FETCH_WAIT = of("ShuffleReadMetrics", "fetchWaitTime");
    static final Accessor SHUFFLE_BYTES_READ = of("ShuffleReadMetrics", "totalBytesRead");
    static final Accessor SHUFFLE_BYTES_WRITTEN = of("ShuffleWriteMetrics", "bytesWritten");
    static final Accessor SHUFFLE_WRITE_TIME = of("ShuffleWriteMetrics", "writeTime");

    private Metrics() {}

    private static Accessor of(String type, String method) {
      return Accessor.of(EXECUTOR + type, method);
    }
  }

  /** SQL comes as other events: its classes are in another module. */
  static final class Sql {
    static final String START = SQL + "SQLExecutionStart";
    static final String END = SQL + "SQLExecutionEnd";
    static final String PLAN = SQL + "SQLAdaptiveExecutionUpdate";

    static final Accessor ID = Accessor.of(START, "executionId");
    static final Accessor ROOT = Accessor.of(START, "rootExecutionId");
    static final Accessor TIME = Accessor.of(START, "time");
    static final Accessor TEXT = Accessor.of(START, "description");
    static final Accessor MODIFIED = Accessor.of(START, "modifiedConfigs");

    /** Since Spark 3.5. */
    static final Accessor TAGS = Accessor.optional(START, "jobTags");

    static final Accessor STARTED_PLAN = Accessor.of(START, "sparkPlanInfo");
    static final Accessor PLAN_ID = Accessor.of(PLAN, "executionId");
    static final Accessor NEW_PLAN = Accessor.of(PLAN, "sparkPlanInfo");
    static final Accessor ENDED_ID = Accessor.of(END, "executionId");
    static final Accessor END_TIME = Accessor.of(END, "time");
    static final Accessor ERROR = Accessor.of(END, "errorMessage");

    private Sql() {}
  }

  /** Streaming queries, likewise. */
  static final class Streams {
    private static final String STREAMING = "org.apache.spark.sql.streaming.";
    static final String PROGRESS = STREAMING + "StreamingQueryListener$QueryProgressEvent";
    static final String END = STREAMING + "StreamingQueryListener$QueryTerminatedEvent";

    static final Accessor REPORT = Accessor.of(PROGRESS, "progress");
    static final Accessor ID = Accessor.of(STREAMING + "StreamingQueryProgress", "id");
    static final Accessor BATCH = Accessor.of(STREAMING + "StreamingQueryProgress", "batchId");
    static final Accessor ENDED_ID = Accessor.of(END, "id");

    private Streams() {}
  }
}
