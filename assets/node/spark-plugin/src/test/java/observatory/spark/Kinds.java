package observatory.spark;

import java.util.Properties;
import org.apache.spark.SparkConf;
import org.apache.spark.Success$;
import org.apache.spark.TaskState;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.util.JsonProtocol;

/**
 * A SQL write that collects a broadcast first, and another that the application's end interrupts. Prints
 * the sums of the tasks' durations by kind, after each step.
 */
public final class Kinds {
  private static final long T0 = 1_700_000_000_000L;

  private final PhaseEngine engine = new PhaseEngine();
  private final Recorder recorder;
  private final AppListener listener;

  private Kinds() {
    Settings settings = Settings.ofDriver(new SparkConf(false).set("spark.master", "yarn"));
    recorder = new Recorder(settings, engine, new Tracer(settings, new SpanBudget(), span -> true));
    listener = new AppListener(recorder, new Faults());
    recorder.applicationStart("application_1700000000000_0001", null, "kinds", T0);
  }

  public static void main(String[] args) {
    new Kinds().run();
  }

  private void run() {
    engine.executionStart(0, 0, T0, true);
    job(0, 0);
    task(0, 3);
    print("the broadcast is collected");
    job(1, 0);
    print("the next job starts");
    task(1, 2);
    print("it has no output");
    listener.onOtherEvent(
        JsonProtocol.sparkEventFromJson(
            "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\",\"executionId\":0,\"time\":"
                + (T0 + 10_000) + "}"));
    print("the write ends");
    engine.executionStart(1, 1, T0 + 20_000, true);
    job(2, 1);
    task(2, 4);
    recorder.end(T0 + 60_000, false);
    print("the application ends");
  }

  private void job(int id, int execution) {
    Properties properties = new Properties();
    properties.setProperty("spark.sql.execution.id", Integer.toString(execution));
    recorder.jobStart(id, T0 + id, properties, null);
    engine.jobStage(id, id);
  }

  /** A result task without output, of the stage of the same number. */
  private void task(int stage, int seconds) {
    TaskInfo info = new TaskInfo(stage, 0, 0, 0, T0, "1", "host", TaskLocality.ANY(), false);
    listener.onTaskStart(new SparkListenerTaskStart(stage, 0, info));
    info.markFinished(TaskState.FINISHED(), T0 + seconds * 1000L);
    listener.onTaskEnd(
        new SparkListenerTaskEnd(stage, 0, "ResultTask", Success$.MODULE$, info, new ExecutorMetrics(), new TaskMetrics()));
  }

  private void print(String step) {
    System.out.println(step);
    recorder.write(new Printer("spark.task.duration"), T0 + 60_000, 1);
  }
}
