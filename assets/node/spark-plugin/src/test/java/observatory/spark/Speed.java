package observatory.spark;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.Success$;
import org.apache.spark.TaskState;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.util.JsonProtocol;

/** Measures the listener: ends of tasks per second of CPU, and the heap of 100,000 tasks in 5,000 stages. */
public final class Speed {
  private static final int TASKS = 100_000;
  private static final int STAGES = 5_000;
  private static final int PER_STAGE = TASKS / STAGES;
  private static final long T0 = 1_700_000_000_000L;

  private Speed() {}

  public static void main(String[] args) throws Exception {
    List<SparkListenerEvent> events = events();
    double best = 0;
    for (int round = 0; round < 8; round++) {
      AppListener listener = new AppListener(recorder(), new Faults());
      long before = ManagementFactory.getThreadMXBean().getThreadCpuTime(Thread.currentThread().getId());
      for (SparkListenerEvent event : events) {
        deliver(listener, event);
      }
      long nanos = ManagementFactory.getThreadMXBean().getThreadCpuTime(Thread.currentThread().getId()) - before;
      best = Math.max(best, TASKS / (nanos / 1e9));
    }
    long before = heap();
    Recorder recorder = recorder();
    AppListener listener = new AppListener(recorder, new Faults());
    for (SparkListenerEvent event : events) {
      deliver(listener, event);
    }
    long bytes = heap() - before;
    long nanos = System.nanoTime();
    Phases phases = recorder.phases(T0 + 10L * TASKS, false);
    long millis = (System.nanoTime() - nanos) / 1_000_000;
    System.out.println((long) best + " " + bytes + " " + millis + " " + phases.millis[Phases.COMPUTE] + " " + events.size());
  }

  private static Recorder recorder() {
    SparkConf conf = new SparkConf(false).set(Platform.SAMPLING_RATIO, "1");
    Settings settings = Settings.ofDriver(conf);
    PhaseEngine engine = new PhaseEngine();
    Recorder recorder = new Recorder(settings, engine, new Tracer(settings, new SpanBudget(), span -> true));
    recorder.applicationStart("application_1700000000000_0001", null, "speed", T0);
    return recorder;
  }

  private static long heap() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(50);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static void deliver(AppListener listener, SparkListenerEvent event) {
    if (event instanceof SparkListenerTaskEnd) {
      listener.onTaskEnd((SparkListenerTaskEnd) event);
    } else if (event instanceof SparkListenerTaskStart) {
      listener.onTaskStart((SparkListenerTaskStart) event);
    } else if (event instanceof SparkListenerStageSubmitted) {
      listener.onStageSubmitted((SparkListenerStageSubmitted) event);
    } else if (event instanceof SparkListenerStageCompleted) {
      listener.onStageCompleted((SparkListenerStageCompleted) event);
    } else if (event instanceof SparkListenerJobStart) {
      listener.onJobStart((SparkListenerJobStart) event);
    } else {
      listener.onJobEnd((SparkListenerJobEnd) event);
    }
  }

  /** A job for each stage; tasks with gaps between them, so that their intervals do not merge. */
  private static List<SparkListenerEvent> events() {
    List<SparkListenerEvent> events = new ArrayList<SparkListenerEvent>();
    for (int stage = 0; stage < STAGES; stage++) {
      long from = T0 + (long) stage * PER_STAGE * 10;
      long to = from + PER_STAGE * 10 - 1;
      events.add(JsonProtocol.sparkEventFromJson(
          "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":" + stage + ",\"Submission Time\":" + from
              + ",\"Stage Infos\":[" + info(stage, from, 0) + "],\"Stage IDs\":[" + stage + "],\"Properties\":{}}"));
      events.add(JsonProtocol.sparkEventFromJson(
          "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":" + info(stage, from, 0) + ",\"Properties\":{}}"));
      for (int task = 0; task < PER_STAGE; task++) {
        addTask(events, stage, (long) stage * PER_STAGE + task, from + task * 10);
      }
      events.add(JsonProtocol.sparkEventFromJson(
          "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":" + info(stage, from, to) + "}"));
      events.add(JsonProtocol.sparkEventFromJson(
          "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":" + stage + ",\"Completion Time\":" + to
              + ",\"Job Result\":{\"Result\":\"JobSucceeded\"}}"));
    }
    return events;
  }

  private static String info(int stage, long from, long to) {
    return "{\"Stage ID\":" + stage + ",\"Stage Attempt ID\":0,\"Stage Name\":\"count at Job.java:1\",\"Number of Tasks\":" + PER_STAGE
        + ",\"RDD Info\":[],\"Parent IDs\":[],\"Details\":\"\",\"Submission Time\":" + from
        + (to > 0 ? ",\"Completion Time\":" + to : "") + ",\"Accumulables\":[],\"Resource Profile Id\":0}";
  }

  private static void addTask(List<SparkListenerEvent> events, int stage, long id, long launched) {
    int index = (int) (id % PER_STAGE);
    TaskInfo info = new TaskInfo(id, index, 0, index, launched, "1", "host", TaskLocality.ANY(), false);
    events.add(new SparkListenerTaskStart(stage, 0, info));
    TaskInfo ended = new TaskInfo(id, index, 0, index, launched, "1", "host", TaskLocality.ANY(), false);
    ended.markFinished(TaskState.FINISHED(), launched + 5);
    TaskMetrics metrics = new TaskMetrics();
    metrics.setExecutorRunTime(4);
    events.add(new SparkListenerTaskEnd(stage, 0, "ResultTask", Success$.MODULE$, ended, new ExecutorMetrics(), metrics));
  }
}
