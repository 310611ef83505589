package observatory.spark;

import java.util.LinkedHashMap;
import java.util.Map;
import observatory.launcher.Signals;

/** Sums and distributions over the tasks and stages of an application. */
final class TaskStatistics {
  private static final String[] COMPONENTS = {
    "run", "cpu", "gc", "deserialization", "result_serialization", "fetch_wait", "shuffle_write", "scheduler_delay",
    "getting_result"
  };
  private static final String[] IO = {"input", "output", "shuffle_read", "shuffle_write"};
  private static final String[] OUTCOMES = {"success", "failed", "killed"};
  static final int SUCCESS = 0;
  static final int FAILED = 1;
  static final int KILLED = 2;

  private final long[] outcomes = new long[OUTCOMES.length];
  private final double[] seconds = new double[COMPONENTS.length];
  private final long[] bytes = new long[IO.length];
  private final TaskKinds kinds;
  private final Histogram shuffleRead = new Histogram(Histogram.BYTES);
  private final Skew time = new Skew(1000);
  private final Skew shuffle = new Skew(1 << 20);
  private final StageTail tail = new StageTail();
  private final StageCosts costs = new StageCosts();

  /** The tasks of a stage that have ended. */
  private static final class Stage {
    final Skew.Stage durations = new Skew.Stage();
    final Skew.Stage shuffled = new Skew.Stage();
    final Skew.Stage input = new Skew.Stage();
    final StageCosts.Stage sums = new StageCosts.Stage();
  }

  /** The oldest first: tasks that end after their stage begin a new entry, which nothing ends. */
  private final Map<Long, Stage> stages =
      new LinkedHashMap<Long, Stage>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Stage> eldest) {
          return size() > Limits.SKEWED_STAGES;
        }
      };

  /** An attempt of a stage that ended. Times are in milliseconds, 0 if they are unknown. */
  static final class Attempt {
    long stage;
    boolean failed;
    boolean again;
    int tasks;
    long submitted;
    long completed;

    long duration() {
      return submitted > 0 ? Math.max(0, completed - submitted) : 0;
    }
  }

  private long memorySpilled;
  private long diskSpilled;
  private long peakMemory;
  private long stagesSucceeded;
  private long stagesFailed;

  TaskStatistics(TaskKinds kinds) {
    this.kinds = kinds;
  }

  /** metrics may be null: a lost executor's task has none. kind is where its duration goes. */
  void taskEnd(long stage, Object info, Object metrics, int outcome, boolean wrote, Histogram kind) {
    outcomes[outcome]++;
    long launched = Events.Tasks.LAUNCHED.number(info);
    long finished = Events.Tasks.FINISHED.number(info);
    long duration = Math.max(0, finished - launched);
    kind.add(duration / 1000.0);
    Stage ended = of(stage);
    ended.sums.lasted += duration;
    ended.sums.writes |= wrote;
    if (metrics == null) {
      return;
    }
    long overhead = addTimes(metrics, duration, gettingResult(info, finished), ended.sums);
    long inputBefore = bytes[0];
    long read = addBytes(metrics, ended.sums);
    if (read > 0) {
      shuffleRead.add(read);
    }
    if (outcome == SUCCESS) {
      ended.durations.add(duration);
      ended.shuffled.add(read);
      ended.input.add(bytes[0] - inputBefore);
      ended.sums.overheads.add(overhead);
    }
  }

  private Stage of(long stage) {
    Stage known = stages.get(stage);
    if (known == null) {
      known = new Stage();
      stages.put(stage, known);
    }
    return known;
  }

  /** Takes the core-milliseconds that executors offered, and the milliseconds that tasks ran, before a stage. */
  void stageSubmitted(long stage, long offered, long ran) {
    StageCosts.Stage sums = of(stage).sums;
    sums.offeredBefore = offered;
    sums.ranBefore = ran;
  }

  private static long gettingResult(Object info, long finished) {
    long began = Events.Tasks.GETTING_RESULT.number(info);
    return began > 0 ? Math.max(0, finished - began) : 0;
  }

  /**
   * Returns what was not the task's work: its scheduling, deserialization and result. Spark has milliseconds,
   * but nanoseconds of CPU and of shuffle writes.
   */
  private long addTimes(Object metrics, long duration, long gettingResult, StageCosts.Stage sums) {
    long run = Events.Metrics.RUN.number(metrics);
    long deserialize = Events.Metrics.DESERIALIZE.number(metrics);
    long serialize = Events.Metrics.SERIALIZE.number(metrics);
    seconds[0] += run / 1e3;
    long cpu = Events.Metrics.CPU.number(metrics);
    seconds[1] += cpu / 1e9;
    long gc = Events.Metrics.GC.number(metrics);
    seconds[2] += gc / 1e3;
    seconds[3] += deserialize / 1e3;
    seconds[4] += serialize / 1e3;
    long fetchWait = Events.Metrics.FETCH_WAIT.number(Events.Metrics.SHUFFLE_READ.value(metrics));
    seconds[5] += fetchWait / 1e3;
    seconds[6] += Events.Metrics.SHUFFLE_WRITE_TIME.number(Events.Metrics.SHUFFLE_WRITE.value(metrics)) / 1e9;
    long delay = Math.max(0, duration - run - deserialize - serialize - gettingResult);
    seconds[7] += delay / 1e3;
    seconds[8] += gettingResult / 1e3;
    sums.run += run;
    sums.cpu += cpu / 1_000_000;
    sums.gc += gc;
    sums.fetchWait += fetchWait;
    return delay + deserialize + gettingResult;
  }

  private long addBytes(Object metrics, StageCosts.Stage sums) {
    long before = bytes[0] + bytes[1] + bytes[2] + bytes[3];
    long read = Events.Metrics.SHUFFLE_BYTES_READ.number(Events.Metrics.SHUFFLE_READ.value(metrics));
    bytes[0] += Events.Metrics.BYTES_READ.number(Events.Metrics.INPUT.value(metrics));
    bytes[1] += Events.Metrics.BYTES_WRITTEN.number(Events.Metrics.OUTPUT.value(metrics));
    bytes[2] += read;
    bytes[3] += Events.Metrics.SHUFFLE_BYTES_WRITTEN.number(Events.Metrics.SHUFFLE_WRITE.value(metrics));
    memorySpilled += Events.Metrics.MEMORY_SPILLED.number(metrics);
    long spilled = Events.Metrics.DISK_SPILLED.number(metrics);
    diskSpilled += spilled;
    sums.spilled += spilled;
    sums.largestSpill = Math.max(sums.largestSpill, spilled);
    sums.moved += bytes[0] + bytes[1] + bytes[2] + bytes[3] - before;
    peakMemory = Math.max(peakMemory, Events.Metrics.PEAK_MEMORY.number(metrics));
    return read;
  }

  /**
   * Takes an attempt of a stage that ended, and the cores that there are now. offered and ran are as in
   * stageSubmitted, until now; warming is as in {@link StageTail}.
   */
  void stageCompleted(Attempt attempt, long cores, long offered, long ran, boolean warming) {
    if (attempt.failed) {
      stagesFailed++;
    } else {
      stagesSucceeded++;
    }
    if (attempt.again) {
      costs.ranAgain(attempt.submitted, attempt.completed);
    }
    Stage ended = stages.remove(attempt.stage);
    if (ended == null) {
      return;
    }
    long duration = attempt.duration();
    StageCosts.Stage sums = ended.sums;
    if (duration > 0 && sums.offeredBefore >= 0) {
      sums.cores = (double) (offered - sums.offeredBefore) / duration;
      sums.others = Math.max(0, (double) (ran - sums.ranBefore - sums.lasted) / duration);
    }
    ended.durations.end();
    costs.finish(sums, ended.durations, attempt.tasks, duration);
    if (ended.durations.count() > 0) {
      ended.shuffled.end();
      ended.input.end();
      tail.finish(ended.durations, ended.shuffled, ended.input, duration, cores, warming);
      time.finish(ended.durations);
      shuffle.finish(ended.shuffled);
    }
  }

  void write(Signals.MetricWriter out) {
    out.sum("spark.task.count", "{task}", true);
    for (int i = 0; i < outcomes.length; i++) {
      out.point(outcomes[i], "outcome", OUTCOMES[i]);
    }
    out.end();
    out.sum("spark.stage.count", "{stage}", true);
    out.point(stagesSucceeded, "outcome", "success");
    out.point(stagesFailed, "outcome", "failed");
    out.end();
    out.sum("spark.stage.tail", "s", true);
    out.point(tail.seconds());
    out.end();
    costs.write(out);
    out.sum("spark.task.time", "s", true);
    for (int i = 0; i < seconds.length; i++) {
      out.point(seconds[i], "component", COMPONENTS[i]);
    }
    out.end();
    out.sum("spark.task.io", "By", true);
    for (int i = 0; i < bytes.length; i++) {
      out.point(bytes[i], "direction", IO[i]);
    }
    out.end();
    out.sum("spark.task.spill", "By", true);
    out.point(memorySpilled, "kind", "memory");
    out.point(diskSpilled, "kind", "disk");
    out.end();
    out.gauge("spark.task.peak_memory", "By");
    out.point(peakMemory);
    out.end();
    writeDistributions(out);
  }

  private void writeDistributions(Signals.MetricWriter out) {
    out.histogram("spark.task.duration", "s");
    kinds.compute.point(out, "kind", "compute");
    kinds.write.point(out, "kind", "write");
    out.end();
    out.histogram("spark.task.shuffle.read", "By");
    shuffleRead.point(out);
    out.end();
    out.gauge("spark.task.skew", "1");
    time.points(out, "time");
    shuffle.points(out, "shuffle_read");
    out.end();
  }
}
