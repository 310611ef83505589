package observatory.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.Success$;
import org.apache.spark.TaskState;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.util.JsonProtocol;

/** Four tasks of one stage on an executor of two cores: prints each point, name, labels and value. */
public final class Sums {
  private static final long T0 = 1_700_000_000_000L;
  private static final int[] SECONDS = {1, 2, 2, 10};
  private static final int MIB = 1 << 20;

  private Sums() {}

  public static void main(String[] args) {
    Settings settings = Settings.ofDriver(new SparkConf(false).set("spark.executor.cores", "2"));
    Recorder recorder = new Recorder(settings, new PhaseEngine(), new Tracer(settings, new SpanBudget(), span -> true));
    recorder.applicationStart("application_1700000000000_0001", null, "sums", T0);
    AppListener listener = new AppListener(recorder, new Faults());
    listener.onExecutorAdded(
        (SparkListenerExecutorAdded)
            JsonProtocol.sparkEventFromJson(
                "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":" + T0 + ",\"Executor ID\":\"1\",\"Executor Info\":"
                    + "{\"Host\":\"host\",\"Total Cores\":2,\"Log Urls\":{},\"Attributes\":{},\"Resources\":{}}}"));
    for (int task = 0; task < SECONDS.length; task++) {
      TaskInfo info = new TaskInfo(task, task, 0, task, T0, "1", "host", TaskLocality.ANY(), false);
      listener.onTaskStart(new SparkListenerTaskStart(0, 0, info));
      info.markFinished(TaskState.FINISHED(), T0 + SECONDS[task] * 1000L);
      listener.onTaskEnd(new SparkListenerTaskEnd(0, 0, "ShuffleMapTask", Success$.MODULE$, info, new ExecutorMetrics(), metrics(task)));
    }
    listener.onStageCompleted(
        (SparkListenerStageCompleted)
            JsonProtocol.sparkEventFromJson(
                "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Stage Name\":\"s\","
                    + "\"Number of Tasks\":4,\"RDD Info\":[],\"Parent IDs\":[],\"Details\":\"\",\"Submission Time\":" + T0
                    + ",\"Completion Time\":" + (T0 + 10_000) + ",\"Accumulables\":[],\"Resource Profile Id\":0}}"));
    recorder.write(new Printer(""), T0 + 10_000, 1);
  }

  /** All tasks write ten times what the largest reads, which must not matter to its skew. */
  private static TaskMetrics metrics(int task) {
    TaskMetrics metrics = new TaskMetrics();
    metrics.setExecutorRunTime(SECONDS[task] * 1000L - 200);
    metrics.setExecutorCpuTime(500_000_000L);
    metrics.setExecutorDeserializeTime(100);
    metrics.setResultSerializationTime(40);
    metrics.setJvmGCTime(30);
    metrics.incMemoryBytesSpilled(3);
    metrics.incDiskBytesSpilled(2);
    metrics.shuffleReadMetrics().incRemoteBytesRead((task == 3 ? 4 : 1) * MIB);
    metrics.shuffleReadMetrics().incFetchWaitTime(20);
    metrics.shuffleWriteMetrics().incBytesWritten(40L * MIB);
    metrics.shuffleWriteMetrics().incWriteTime(10_000_000L);
    return metrics;
  }
}
