package observatory.spark;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import observatory.spark.Facts.Attempt;
import observatory.spark.Facts.Execution;
import observatory.spark.Facts.Executor;
import observatory.spark.Facts.Job;
import observatory.spark.Facts.RunningTask;
import observatory.spark.Facts.Stage;

/** Removes from an engine what is over, or what must be over although no event said so. */
final class Forgetting {
  private static final long NEVER = Facts.NEVER;

  /** Events come late, but not as late as this. */
  private static final long LATE_MILLIS = 60_000;

  private Forgetting() {}

  /** The time before which no event can be missing but of what is still open. */
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
   * Tells whether an execution is open at the horizon. Its later jobs decide which of its earlier ones
   * wrote, so the phases until then are not certain.
   */
  static boolean holdsExecution(PhaseEngine engine, long horizon) {
    for (Execution execution : engine.executions.values()) {
      if (execution.to == NEVER && execution.from < horizon) {
        return true;
      }
    }
    return false;
  }

  /** Removes what ended before the horizon. */
  static void forget(PhaseEngine engine, long horizon) {
    for (Iterator<Execution> i = engine.executions.values().iterator(); i.hasNext(); ) {
      Execution execution = i.next();
      Execution root = engine.executions.get(execution.root);
      if (execution.to <= horizon && (root == null || root.to <= horizon)) {
        i.remove();
      }
    }
    for (Iterator<Job> i = engine.jobs.values().iterator(); i.hasNext(); ) {
      Job job = i.next();
      if (job.to <= horizon && !engine.executions.containsKey(job.execution)) {
        i.remove();
      }
    }
    for (Iterator<Attempt> i = engine.attempts.values().iterator(); i.hasNext(); ) {
      if (i.next().completed <= horizon) {
        i.remove();
      }
    }
    for (Iterator<Stage> i = engine.stages.values().iterator(); i.hasNext(); ) {
      Stage stage = i.next();
      if (stage.lastFinish <= horizon && !engine.jobs.containsKey(stage.job)) {
        i.remove();
      } else if (stage.results != null) {
        stage.results.dropBefore(horizon);
      }
    }
    for (Iterator<Executor> i = engine.executors.values().iterator(); i.hasNext(); ) {
      if (i.next().to <= horizon) {
        i.remove();
      }
    }
    engine.tasks.dropBefore(horizon);
    engine.written.dropBefore(horizon);
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
