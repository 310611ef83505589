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

  /** The oldest first: tasks that end after their stage begin a new entry, which nothing ends. */
  private final Map<Long, Skew.Stage[]> stages =
      new LinkedHashMap<Long, Skew.Stage[]>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Skew.Stage[]> eldest) {
          return size() > Limits.SKEWED_STAGES;
        }
      };

  private long memorySpilled;
  private long diskSpilled;
  private long peakMemory;
  private long stagesSucceeded;
  private long stagesFailed;

  TaskStatistics(TaskKinds kinds) {
    this.kinds = kinds;
  }

  /** metrics may be null: a lost executor's task has none. kind is where its duration goes. */
  void taskEnd(long stage, Object info, Object metrics, int outcome, Histogram kind) {
    outcomes[outcome]++;
    long launched = Events.Tasks.LAUNCHED.number(info);
    long finished = Events.Tasks.FINISHED.number(info);
    long duration = Math.max(0, finished - launched);
    kind.add(duration / 1000.0);
    if (metrics == null) {
      return;
    }
    addTimes(metrics, duration, gettingResult(info, finished));
    long read = addBytes(metrics);
    if (read > 0) {
      shuffleRead.add(read);
    }
    if (outcome == SUCCESS) {
      Skew.Stage[] samples = stages.get(stage);
      if (samples == null) {
        samples = new Skew.Stage[] {new Skew.Stage(), new Skew.Stage(), new Skew.Stage()};
        stages.put(stage, samples);
      }
      samples[0].add(duration);
      samples[1].add(read);
      samples[2].add(Events.Metrics.BYTES_READ.number(Events.Metrics.INPUT.value(metrics)));
    }
  }

  private static long gettingResult(Object info, long finished) {
    long began = Events.Tasks.GETTING_RESULT.number(info);
    return began > 0 ? Math.max(0, finished - began) : 0;
  }

  /** Spark has milliseconds, but nanoseconds of CPU and of shuffle writes. */
  private void addTimes(Object metrics, long duration, long gettingResult) {
    long run = Events.Metrics.RUN.number(metrics);
    long deserialize = Events.Metrics.DESERIALIZE.number(metrics);
    long serialize = Events.Metrics.SERIALIZE.number(metrics);
    seconds[0] += run / 1e3;
    seconds[1] += Events.Metrics.CPU.number(metrics) / 1e9;
    seconds[2] += Events.Metrics.GC.number(metrics) / 1e3;
    seconds[3] += deserialize / 1e3;
    seconds[4] += serialize / 1e3;
    seconds[5] += Events.Metrics.FETCH_WAIT.number(Events.Metrics.SHUFFLE_READ.value(metrics)) / 1e3;
    seconds[6] += Events.Metrics.SHUFFLE_WRITE_TIME.number(Events.Metrics.SHUFFLE_WRITE.value(metrics)) / 1e9;
    seconds[7] += Math.max(0, duration - run - deserialize - serialize - gettingResult) / 1e3;
    seconds[8] += gettingResult / 1e3;
  }

  private long addBytes(Object metrics) {
    long read = Events.Metrics.SHUFFLE_BYTES_READ.number(Events.Metrics.SHUFFLE_READ.value(metrics));
    bytes[0] += Events.Metrics.BYTES_READ.number(Events.Metrics.INPUT.value(metrics));
    bytes[1] += Events.Metrics.BYTES_WRITTEN.number(Events.Metrics.OUTPUT.value(metrics));
    bytes[2] += read;
    bytes[3] += Events.Metrics.SHUFFLE_BYTES_WRITTEN.number(Events.Metrics.SHUFFLE_WRITE.value(metrics));
    memorySpilled += Events.Metrics.MEMORY_SPILLED.number(metrics);
    diskSpilled += Events.Metrics.DISK_SPILLED.number(metrics);
    peakMemory = Math.max(peakMemory, Events.Metrics.PEAK_MEMORY.number(metrics));
    return read;
  }

  /** duration is in milliseconds, 0 if it is unknown; warming and cores are as in {@link StageTail}. */
  void stageCompleted(long stage, boolean failed, long duration, long cores, boolean warming) {
    if (failed) {
      stagesFailed++;
    } else {
      stagesSucceeded++;
    }
    Skew.Stage[] samples = stages.remove(stage);
    if (samples != null) {
      for (Skew.Stage sample : samples) {
        sample.end();
      }
      tail.finish(samples[0], samples[1], samples[2], duration, cores, warming);
      time.finish(samples[0]);
      shuffle.finish(samples[1]);
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
