package observatory.spark;

import observatory.launcher.Signals;
import observatory.launcher.Span;
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

/**
 * The largest trace that an application may have: 100,000 tasks in 5,000 stages, which have the longest
 * texts and fail. The launcher of this JVM sends it. Prints the trace's id, the spans sent, those that
 * the budget dropped, and those that the full queue dropped.
 */
public final class LargeTrace {
  private static final String APPLICATION = "application_1700000000000_0001";
  private static final int STAGES = 5_000;
  private static final int PER_STAGE = 20;
  private static final int STAGE_MILLIS = 200;
  private static final int STAGES_AT_ONCE = 100;

  private final long begin = System.currentTimeMillis() - (long) STAGES * STAGE_MILLIS;
  private final SpanBudget budget = new SpanBudget();
  private final Recorder recorder;
  private final AppListener listener;
  private int sent;

  private LargeTrace(String id) {
    Settings settings = Settings.ofDriver(new SparkConf(false).set(Platform.SAMPLING_RATIO, "1"));
    recorder = new Recorder(settings, new PhaseEngine(), new Tracer(settings, budget, this::send));
    listener = new AppListener(recorder, new Faults());
    recorder.applicationStart(id, null, "large", begin);
  }

  public static void main(String[] args) {
    Signals.identify(APPLICATION);
    new LargeTrace(APPLICATION).run();
  }

  private boolean send(Span span) {
    sent++;
    return Signals.span(span);
  }

  private void run() {
    for (int stage = 0; stage < STAGES; stage++) {
      stage(stage, begin + (long) stage * STAGE_MILLIS);
      if (stage % STAGES_AT_ONCE == 0) {
        flush();
      }
      if (stage == 1000) {
        taskSpans(); // while the driver's share lasts: then executors get no more
      }
    }
    flush();
    recorder.end(begin + (long) STAGES * STAGE_MILLIS, false);
    flush();
    System.out.println("trace " + recorder.application().traceId + " " + sent + " " + budget.dropped() + " " + Signals.spansDropped());
  }

  /** An application of this size takes minutes; here its spans wait until the last ones are sent. */
  private static void flush() {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!Signals.flush(1000) && System.nanoTime() < deadline) {
      Thread.yield();
    }
  }

  /** An SQL execution with a job with a stage. */
  private void stage(int stage, long from) {
    long to = from + STAGE_MILLIS - 1;
    String sql = "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecution";
    listener.onOtherEvent(
        event(
            sql + "Start\",\"executionId\":" + stage + ",\"description\":\"" + text(300) + "\",\"details\":\"\","
                + "\"physicalPlanDescription\":\"\",\"sparkPlanInfo\":{\"nodeName\":\"Range\",\"simpleString\":\"\",\"children\":[],"
                + "\"metadata\":{},\"metrics\":[]},\"time\":" + from + ",\"modifiedConfigs\":{}}"));
    listener.onJobStart(
        (SparkListenerJobStart)
            event(
                "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":" + stage + ",\"Submission Time\":" + from + ",\"Stage Infos\":["
                    + info(stage, from, 0) + "],\"Stage IDs\":[" + stage + "],\"Properties\":{\"spark.sql.execution.id\":\"" + stage
                    + "\",\"spark.job.description\":\"" + text(300) + "\"}}"));
    listener.onStageSubmitted(
        (SparkListenerStageSubmitted)
            event("{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":" + info(stage, from, 0) + ",\"Properties\":{}}"));
    for (int task = 0; task < PER_STAGE; task++) {
      task(stage, (long) stage * PER_STAGE + task, from + task * 10);
    }
    listener.onStageCompleted(
        (SparkListenerStageCompleted)
            event("{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":" + info(stage, from, to) + "}"));
    listener.onJobEnd(
        (SparkListenerJobEnd)
            event(
                "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":" + stage + ",\"Completion Time\":" + to
                    + ",\"Job Result\":{\"Result\":\"JobSucceeded\"}}"));
    listener.onOtherEvent(event(sql + "End\",\"executionId\":" + stage + ",\"time\":" + to + "}"));
  }

  private void task(int stage, long id, long launched) {
    int index = (int) (id % PER_STAGE);
    TaskInfo info = new TaskInfo(id, index, 0, index, launched, "1", "host", TaskLocality.ANY(), false);
    listener.onTaskStart(new SparkListenerTaskStart(stage, 0, info));
    info.markFinished(TaskState.FINISHED(), launched + 5);
    listener.onTaskEnd(
        new SparkListenerTaskEnd(stage, 0, "ShuffleMapTask", Success$.MODULE$, info, new ExecutorMetrics(), new TaskMetrics()));
  }

  /** What executors send of this application's tasks: as many as the budget grants. */
  private void taskSpans() {
    Application application = recorder.application();
    int id = 0;
    while (true) {
      int granted = budget.grant(application.traceId, SpanBudget.GRANT, SpanBudget.GRANT);
      if (granted == 0) {
        return;
      }
      for (int last = id + granted; id < last; id++) {
        String stage = application.span("stage", id % 1000 + ".0");
        long from = begin + id % 1000 * (long) STAGE_MILLIS;
        Span span = application.begin(application.traceId, stage, "task", Integer.toString(id), "task " + id, from, from + 5);
        span.put("spark.task.id", (long) id).put("spark.task.attempt", 0L).put("spark.task.partition", 0L);
        span.put("spark.task.kept", "failed").put("spark.stage.id", id % 1000L).put("spark.stage.attempt", 0L);
        span.put("spark.task.s3.seconds", 0.25);
        send(span.error(text(Redaction.TASK_MESSAGE)));
      }
      flush();
    }
  }

  private static String info(int stage, long from, long to) {
    return "{\"Stage ID\":" + stage + ",\"Stage Attempt ID\":0,\"Stage Name\":\"" + text(300) + "\",\"Number of Tasks\":" + PER_STAGE
        + ",\"RDD Info\":[],\"Parent IDs\":[],\"Details\":\"\",\"Submission Time\":" + from
        + (to > 0 ? ",\"Completion Time\":" + to + ",\"Failure Reason\":\"" + text(2000) + "\"" : "")
        + ",\"Accumulables\":[],\"Resource Profile Id\":0}";
  }

  private static SparkListenerEvent event(String json) {
    return JsonProtocol.sparkEventFromJson(json);
  }

  private static String text(int length) {
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      text.append("a partition of /lake/orders failed ");
    }
    return text.substring(0, length);
  }
}
