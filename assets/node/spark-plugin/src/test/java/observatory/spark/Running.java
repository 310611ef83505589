package observatory.spark;

import java.util.Collections;
import org.apache.spark.SparkConf;
import org.apache.spark.Success$;
import org.apache.spark.TaskState;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import scala.Option;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * A write that adaptive execution plans: a task of its latest job runs. Prints the phase of that
 * moment, and what it is if the application ends then.
 */
public final class Running {
  private static final long T0 = 1_700_000_000_000L;

  private Running() {}

  public static void main(String[] args) {
    for (boolean shuffle : new boolean[] {true, false}) {
      for (boolean ended : new boolean[] {false, true}) {
        System.out.println((shuffle ? "shuffle" : "output") + (ended ? ", a task ended" : "") + " > " + phases(shuffle, ended));
      }
    }
  }

  private static String phases(boolean shuffle, boolean ended) {
    Settings settings = Settings.ofDriver(new SparkConf(false).set("spark.master", "yarn"));
    PhaseEngine engine = new PhaseEngine();
    Recorder recorder = new Recorder(settings, engine, new Tracer(settings, new SpanBudget(), span -> true));
    AppListener listener = new AppListener(recorder, new Faults());
    engine.applicationStart(T0);
    engine.executorAdded("1", T0, "host", 0);
    engine.executionStart(0, 0, T0, true);
    engine.jobStart(0, T0, 0);
    engine.jobStage(0, 0);
    recorder.stageSubmitted(stage(shuffle));
    listener.onTaskStart(new SparkListenerTaskStart(0, 0, task(0)));
    if (ended) {
      TaskInfo other = task(1);
      listener.onTaskStart(new SparkListenerTaskStart(0, 0, other));
      other.markFinished(TaskState.FINISHED(), T0 + 1_000);
      String type = shuffle ? "ShuffleMapTask" : "ResultTask";
      listener.onTaskEnd(new SparkListenerTaskEnd(0, 0, type, Success$.MODULE$, other, new ExecutorMetrics(), new TaskMetrics()));
    }
    int now = engine.phasesAt(T0 + 5_000, false).last();
    engine.applicationEnd(T0 + 5_000);
    return Platform.PHASES[now] + " " + Platform.PHASES[engine.phases().last()];
  }

  private static TaskInfo task(int id) {
    return new TaskInfo(id, id, 0, id, T0, "1", "host", TaskLocality.ANY(), false);
  }

  private static StageInfo stage(boolean shuffle) {
    Option<Object> dependency = shuffle ? Option.<Object>apply(7) : Option.<Object>empty();
    StageInfo info =
        new StageInfo(0, 0, "save", 2, Running.none(), Running.none(), "", null, Running.none(), dependency, 0, false, 0);
    info.submissionTime_$eq(Option.<Object>apply(T0));
    return info;
  }

  private static <T> Seq<T> none() {
    return JavaConverters.asScalaBuffer(Collections.<T>emptyList());
  }
}
