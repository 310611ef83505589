package observatory.spark;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import observatory.spark.Facts.Attempt;
import observatory.spark.Facts.Execution;
import observatory.spark.Facts.Executor;
import observatory.spark.Facts.Job;
import observatory.spark.Facts.RunningTask;
import observatory.spark.Facts.Stage;
import observatory.spark.Facts.Writing;

/** Removes from an engine what is over, or what must be over although no event said so. */
final class Forgetting {
  private static final long NEVER = Facts.NEVER;

  /** Events come late, but not as late as this. */
  private static final long LATE_MILLIS = 60_000;

  private Forgetting() {}

  /** Events before this time have all come, except the ends of what is still open. */
  static long latest(long now) {
    return now - LATE_MILLIS;
  }

  /** The time before which nothing can change any more. */
  static long horizon(PhaseEngine engine, long now) {
    long horizon = latest(now);
    for (Job job : engine.jobs.values()) {
      horizon = job.to == NEVER ? Math.min(horizon, job.from) : horizon;
    }
    for (Execution execution : engine.executions.values()) {
      horizon = execution.to == NEVER ? Math.min(horizon, execution.from) : horizon;
    }
    for (Attempt attempt : engine.attempts.values()) {
      horizon = attempt.completed == NEVER ? Math.min(horizon, attempt.submitted) : horizon;
    }
    for (RunningTask task : engine.running.values()) {
      horizon = Math.min(horizon, task.launched);
    }
    return horizon;
  }

  /**
   * Tells whether what is open at the horizon may change the phases until then: the later jobs of an
   * execution that writes decide which of its earlier ones wrote, and a task's output shows at its end.
   */
  static boolean undecided(PhaseEngine engine, long horizon) {
    Map<Long, Writing> writing = Classifier.writing(engine, Classifier.writingJobs(engine));
    for (Map.Entry<Long, Execution> e : engine.executions.entrySet()) {
      Execution execution = e.getValue();
      boolean open = execution.to == NEVER && execution.from < horizon;
      if (open && (execution.writes || writing.get(e.getKey()).any)) {
        return true;
      }
    }
    for (RunningTask task : engine.running.values()) {
      Job job = engine.jobs.get(engine.stage(task.stage).job);
      if (task.launched < horizon && (job == null || job.highestStage == task.stage)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Removes what ended before the horizon and does not belong to what is still open. forced: executions
   * that are open keep nothing but what their jobs wrote.
   */
  static void forget(PhaseEngine engine, long horizon, boolean forced) {
    Set<Integer> writers = Classifier.writingJobs(engine);
    Set<Integer> openStages = new HashSet<Integer>();
    Set<String> usedExecutors = new HashSet<String>();
    for (RunningTask task : engine.running.values()) {
      openStages.add(task.stage);
      usedExecutors.add(task.executor);
    }
    for (Iterator<Attempt> i = engine.attempts.values().iterator(); i.hasNext(); ) {
      Attempt attempt = i.next();
      if (attempt.completed <= horizon) {
        i.remove();
      } else {
        openStages.add(attempt.stage);
      }
    }
    for (Iterator<Execution> i = engine.executions.values().iterator(); i.hasNext(); ) {
      Execution execution = i.next();
      Execution root = engine.executions.get(execution.root);
      if (execution.to <= horizon && (forced || root == null || root.to <= horizon)) {
        i.remove();
      }
    }
    Set<Integer> over = new HashSet<Integer>();
    for (Map.Entry<Integer, Job> e : engine.jobs.entrySet()) {
      if (e.getValue().to <= horizon && (forced || !engine.executions.containsKey(e.getValue().execution))) {
        over.add(e.getKey());
      }
    }
    for (Integer stage : openStages) {
      over.remove(engine.stage(stage).job);
    }
    forgetStages(engine, horizon, writers, openStages, over);
    engine.jobs.keySet().removeAll(over);
    for (Iterator<Map.Entry<String, Executor>> i = engine.executors.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<String, Executor> e = i.next();
      if (e.getValue().to <= horizon && !usedExecutors.contains(e.getKey())) {
        i.remove();
      }
    }
    engine.tasks.dropBefore(horizon);
    engine.written.dropBefore(horizon);
  }

  /** over: jobs that are about to be removed. */
  private static void forgetStages(
      PhaseEngine engine, long horizon, Set<Integer> writers, Set<Integer> openStages, Set<Integer> over) {
    for (Iterator<Map.Entry<Integer, Stage>> i = engine.stages.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<Integer, Stage> e = i.next();
      Stage stage = e.getValue();
      Job job = engine.jobs.get(stage.job);
      boolean removable = !openStages.contains(e.getKey()) && (job == null || over.contains(stage.job));
      if (stage.lastFinish <= horizon && removable) {
        Execution execution = job == null ? null : engine.executions.get(engine.executionOf(job));
        if (execution != null) {
          execution.forgotten.add(Classifier.wrote(stage, writers), stage.lastFinish);
        }
        i.remove();
      } else if (stage.results != null) {
        stage.results.dropBefore(horizon);
      }
    }
  }

  /**
   * Events were lost: ends what must have ended when something else did. Returns the tasks that were
   * thought to run.
   */
  static List<RunningTask> reconcile(PhaseEngine engine) {
    for (Job job : engine.jobs.values()) {
      Execution execution = engine.executions.get(engine.executionOf(job));
      if (job.to == NEVER && execution != null) {
        job.to = execution.to;
      }
    }
    for (Attempt attempt : engine.attempts.values()) {
      Job job = engine.jobs.get(engine.stage(attempt.stage).job);
      if (attempt.completed == NEVER && job != null) {
        attempt.completed = job.to;
      }
    }
    List<RunningTask> lost = new ArrayList<RunningTask>();
    for (Iterator<RunningTask> i = engine.running.values().iterator(); i.hasNext(); ) {
      RunningTask task = i.next();
      Job job = engine.jobs.get(engine.stage(task.stage).job);
      Executor executor = engine.executors.get(task.executor);
      long limit = Math.min(job == null ? NEVER : job.to, executor == null ? NEVER : executor.to);
      if (limit != NEVER) {
        i.remove();
        engine.tasks.add(task.launched, limit);
        lost.add(task);
      }
    }
    return lost;
  }
}
