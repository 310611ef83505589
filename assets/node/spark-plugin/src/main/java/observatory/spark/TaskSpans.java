package observatory.spark;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.TaskContext;

/**
 * Which of an executor's tasks have a span: those that failed, those that are slow among their stage's,
 * and a sample. There may be millions of tasks, and a trace has a budget.
 */
final class TaskSpans {
  /** Local properties that decide on a job's place in a trace. */
  private static final String[] PLACING = {
    "traceparent", ConnectTags.PROPERTY, Platform.CONNECT_OPERATION, Platform.TRACEPARENT, "sql.streaming.queryId",
    "streaming.sql.batchId"
  };

  private static final int STAGES = 64;
  private static final int SAMPLE = 100;
  private static final int FEWEST = 5;
  private static final double SLOW_FACTOR = 3;
  private static final double SLOW_SECONDS = 1;

  /** A stage attempt of which this executor runs tasks. */
  static final class Stage {
    final Place place;
    final String spanId;
    private long count;
    private double seconds;

    private Stage(Place place, String spanId) {
      this.place = place;
      this.spanId = spanId;
    }
  }

  private final Map<Long, Stage> stages =
      new LinkedHashMap<Long, Stage>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Stage> eldest) {
          return size() > STAGES;
        }
      };

  /** The stage of a task, for the first of which its place is looked up. */
  synchronized Stage stage(Application application, Settings settings, TaskContext task) {
    Long key = (long) task.stageId() << 32 | task.stageAttemptNumber();
    Stage stage = stages.get(key);
    if (stage == null) {
      Properties properties = new Properties();
      for (String name : PLACING) {
        String value = task.getLocalProperty(name);
        if (value != null) {
          properties.setProperty(name, value);
        }
      }
      String number = task.stageId() + "." + task.stageAttemptNumber();
      stage = new Stage(Place.ofJob(application, settings, properties), application.span("stage", number));
      stages.put(key, stage);
    }
    return stage;
  }

  /** Why a task that succeeded has a span, or null. */
  synchronized String reason(Stage stage, double seconds) {
    boolean slow =
        stage.count >= FEWEST && seconds >= SLOW_SECONDS && seconds > SLOW_FACTOR * stage.seconds / stage.count;
    boolean sampled = stage.count % SAMPLE == 0;
    stage.count++;
    stage.seconds += seconds;
    return slow ? "slow" : sampled ? "sample" : null;
  }
}
