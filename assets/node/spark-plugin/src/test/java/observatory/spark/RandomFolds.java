package observatory.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;

/**
 * Runs random ten-minute applications through two engines: one folds at random times, the other never
 * does. Jobs and tasks may outlive their execution, parts their root, and some ends are lost. Prints how
 * many divisions after a fold agreed exactly. Fails at the first one that differs and is not marked
 * approximate.
 */
public final class RandomFolds {
  private static final int SEEDS = 3_000;
  private static final long T0 = 1_700_000_000_000L;

  private static final class Event {
    final long time;
    final String what;
    final Consumer<PhaseEngine> effect;

    Event(long time, String what, Consumer<PhaseEngine> effect) {
      this.time = time;
      this.what = what;
      this.effect = effect;
    }
  }

  private final Random random;
  private final List<Event> events = new ArrayList<>();
  private final long[] removed = new long[4];
  private final StringBuilder folded = new StringBuilder();
  private int exact;
  private int approximate;

  private RandomFolds(int seed) {
    random = new Random(seed);
  }

  public static void main(String[] args) {
    int[] exact = new int[2];
    int[] approximate = new int[2];
    for (int seed = 0; seed < SEEDS; seed++) {
      int forced = seed % 2;
      RandomFolds folds = new RandomFolds(seed);
      String difference = folds.compare(forced == 1);
      if (difference != null) {
        throw new AssertionError("seed " + seed + ": " + difference + folds.described());
      }
      exact[forced] += folds.exact;
      approximate[forced] += folds.approximate;
    }
    System.out.println(exact[0] + " " + approximate[0] + " " + exact[1] + " " + approximate[1]);
  }

  private long after(long from, int seconds) {
    return from + random.nextInt(1_000 * seconds);
  }

  private void add(double often, long time, String what, Consumer<PhaseEngine> effect) {
    if (random.nextDouble() < often) {
      events.add(new Event(time, what, effect));
    }
  }

  /** Returns how the engines differ, null if they do not. */
  private String compare(boolean forced) {
    boolean dynamic = random.nextBoolean();
    generate();
    events.sort((a, b) -> Long.compare(a.time, b.time));
    PhaseEngine forgetting = start(dynamic);
    PhaseEngine remembering = start(dynamic);
    for (Event event : events) {
      event.effect.accept(forgetting);
      event.effect.accept(remembering);
      if (random.nextInt(8) == 0) {
        long before = forgetting.foldedUntil();
        forgetting.fold(event.time, forced);
        if (forgetting.foldedUntil() == before) {
          continue;
        }
        folded.append(' ').append(event.time - T0);
        String difference =
            difference(remembering.phasesAt(event.time, false), forgetting.phasesAt(event.time, false), "at " + (event.time - T0));
        if (difference != null) {
          return difference;
        }
      }
    }
    long end = events.get(events.size() - 1).time + 1_000;
    forgetting.applicationEnd(end);
    remembering.applicationEnd(end);
    return difference(remembering.phases(), forgetting.phases(), "at the end");
  }

  private static PhaseEngine start(boolean dynamic) {
    PhaseEngine engine = new PhaseEngine();
    SparkConf conf = new SparkConf(false).set("spark.master", "yarn");
    conf.set("spark.dynamicAllocation.enabled", Boolean.toString(dynamic));
    engine.configure(new Deployment(conf, dynamic ? "" : Platform.SESSION_SERVERS[0]));
    engine.applicationStart(T0);
    engine.blockManagerAdded(Platform.DRIVER_ID, T0 + 500);
    return engine;
  }

  private String difference(Phases want, Phases got, String when) {
    long sum = Arrays.stream(got.millis).sum();
    if (sum != got.end - got.begin || got.end != want.end) {
      return when + ": the phases sum to " + sum + " of " + (got.end - got.begin);
    }
    if (got.approximate) {
      approximate++;
      return null;
    }
    exact++;
    return Arrays.equals(want.millis, got.millis)
        ? null
        : when + ": " + segments(got) + "\nmust be" + segments(want);
  }

  private static String segments(Phases phases) {
    StringBuilder out = new StringBuilder();
    phases.visit((phase, from, to) -> out.append(' ').append(Platform.PHASES[phase]).append(" until ").append(to - T0));
    return out.toString();
  }

  private String described() {
    StringBuilder out = new StringBuilder("\nfolded at" + folded);
    for (Event event : events) {
      out.append('\n').append(event.time - T0).append(' ').append(event.what);
    }
    return out.toString();
  }

  private void generate() {
    for (int i = 0; i < removed.length; i++) {
      String id = "e" + i;
      long added = after(T0, 300);
      String host = "h" + i % 3;
      int profile = random.nextInt(4) / 3;
      add(1, added, "executor " + id + " with profile " + profile, e -> e.executorAdded(id, added, host, profile));
      add(0.9, added + 100, "ready " + id, e -> e.blockManagerAdded(id, added + 100));
      long end = random.nextInt(4) == 0 ? Long.MAX_VALUE : after(added, 300);
      exclude(Exclusions.executor(id), null, added, 300);
      exclude(Exclusions.host(host), null, added, 300);
      removed[i] = end;
      add(end == Long.MAX_VALUE ? 0 : 1, end, "removed " + id, e -> e.executorRemoved(id, end));
    }
    long[] starts = new long[6];
    long[] ends = new long[starts.length];
    double lost = random.nextInt(3) == 0 ? 0.1 : 0;
    for (int i = 0; i < starts.length; i++) {
      long id = i;
      long root = i > 0 && random.nextInt(3) == 0 ? random.nextInt(i) : i;
      boolean writes = random.nextBoolean();
      long from = root == id ? after(T0, 400) : after(starts[(int) root], 60);
      starts[i] = from;
      add(1, from, "sql " + id + " of " + root + (writes ? " writes" : ""), e -> e.executionStart(id, root, from, writes));
      boolean outlives = root != id && random.nextBoolean();
      long to = outlives ? after(Math.max(from, ends[(int) root]), 120) + 1 : after(from, random.nextBoolean() ? 30 : 200) + 1;
      ends[i] = to;
      long planned = from + random.nextInt((int) (to - from));
      add(0.1, planned, "sql " + id + " writes", e -> e.executionPlan(id, true));
      add(1 - lost, to, "end of sql " + id, e -> e.executionEnd(id, to));
    }
    List<long[]> jobs = new ArrayList<>(); // start and execution
    for (int job = 0; job < 12; job++) {
      int execution = random.nextInt(starts.length + 2) - 2;
      jobs.add(new long[] {after(execution < 0 ? T0 : starts[execution], execution < 0 ? 400 : 80), execution});
    }
    jobs.sort((a, b) -> Long.compare(a[0], b[0]));
    for (int job = 0; job < jobs.size(); job++) {
      generateJob(job, jobs.get(job)[0], jobs.get(job)[1], lost);
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      String number = "session." + i;
      long from = after(T0, 400);
      long to = after(from, 60);
      add(1, from, "operation " + number, e -> e.operationStart(number, from));
      add(1 - lost, to, "end of operation " + number, e -> e.operationEnd(number, to));
    }
  }

  private void exclude(String whose, Long attempt, long since, int seconds) {
    if (random.nextInt(4) == 0) {
      String what = whose + (attempt == null ? "" : " for attempt " + attempt);
      long from = after(since, seconds);
      add(1, from, "excluded " + what, e -> e.excluded(whose, attempt, from, false));
      long to = after(from, seconds);
      add(attempt == null ? 0.8 : 0, to, "no longer excluded " + what, e -> e.excluded(whose, attempt, to, true));
    }
  }

  private void generateJob(int id, long from, long execution, double lost) {
    long carried = execution < 0 ? Facts.NONE : execution;
    add(
        1,
        from,
        "job " + id + " of " + carried,
        e -> {
          e.jobStart(id, from, carried);
          e.jobStage(id, 2 * id);
          e.jobStage(id, 2 * id + 1);
        });
    long to = after(from + 20, 90);
    add(1 - lost, to, "end of job " + id, e -> e.jobEnd(id, to));
    for (int stage = 2 * id; stage < 2 * id + 2; stage++) {
      int number = stage;
      long submitted = from + (stage - 2 * id);
      int profile = random.nextInt(4) / 3;
      add(
          1,
          submitted,
          "stage " + number + " with profile " + profile,
          e -> {
            e.stageSubmitted(number, 0, submitted);
            e.attempt(number, 0).profile = profile;
          });
      exclude(Exclusions.executor("e" + random.nextInt(removed.length)), PhaseEngine.key(number, 0), submitted, 60);
      boolean result = stage == 2 * id + 1;
      for (int i = 0; i < random.nextInt(4); i++) {
        long task = 10L * stage + i;
        long launched = submitted + random.nextInt((int) (to - submitted));
        int host = random.nextInt(removed.length);
        String executor = removed[host] > launched ? "e" + host : "unknown";
        // Spark ends a task with its executor; an event comes a minute late at most.
        long latest = executor.equals("unknown") ? Long.MAX_VALUE : Math.max(removed[host], removed[host] + 50_000);
        long finished = Math.min(latest, after(launched, random.nextInt(3) == 0 ? 90 : 10) + 1);
        boolean wrote = random.nextInt(4) == 0;
        add(1, launched, "task " + task, e -> e.taskStart(task, number, launched, executor));
        String end = "end of task " + task + (result ? " result" : "") + (wrote ? " wrote" : "");
        add(1 - lost, finished, end, e -> e.taskEnd(task, number, 0, launched, finished, result, result && wrote, true));
      }
      add(1 - lost, to, "end of stage " + number, e -> e.stageCompleted(number, 0, submitted, to, false, 0));
    }
  }
}
