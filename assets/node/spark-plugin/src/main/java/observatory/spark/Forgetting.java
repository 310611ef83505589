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
import observatory.spark.Facts.Operation;
import observatory.spark.Facts.RunningTask;
import observatory.spark.Facts.Stage;
import observatory.spark.Facts.Writing;

/** Removes from an engine what is over, or what must be over although no event said so. */
final class Forgetting {
  private static final long NEVER = Facts.NEVER;

  /** Events come late, but not as late as this. */
  private static final long LATE_MILLIS = 60_000;

  private final PhaseEngine engine;
  private final long horizon;
  private final boolean forced;

  /** Stages with a running task, or an attempt that has not completed. */
  private final Set<Integer> openStages = new HashSet<Integer>();

  private final Set<Integer> keptJobs = new HashSet<Integer>();

  /**
   * forced: the horizon is after the start of something open. Of the jobs that ended before it, an open
   * execution keeps only whether they wrote, when their last task finished, and which was the latest.
   */
  Forgetting(PhaseEngine engine, long horizon, boolean forced) {
    this.engine = engine;
    this.horizon = horizon;
    this.forced = forced;
  }

  /** Events before this time have all come, except the ends of what is still open. */
  static long latest(long now) {
    return now - LATE_MILLIS;
  }

  /** The time before which nothing can change any more. */
  static long horizon(PhaseEngine engine, long now) {
    long horizon = latest(now);
    for (Execution execution : engine.executions.values()) {
      horizon = execution.to == NEVER ? Math.min(horizon, execution.from) : horizon;
    }
    for (Attempt attempt : engine.attempts.values()) {
      horizon = attempt.completed == NEVER ? Math.min(horizon, attempt.submitted) : horizon;
    }
    for (RunningTask task : engine.running.values()) {
      horizon = Math.min(horizon, task.launched);
    }
    for (Job job : unfinished(engine)) {
      // A task that outlives its execution decides whether a gap before it was a commit.
      Execution execution = engine.executions.get(engine.executionOf(job));
      horizon = Math.min(horizon, execution == null ? job.from : Math.min(job.from, execution.from));
    }
    return horizon;
  }

  /** The jobs that have not ended, or of which an attempt of a stage or a task has not. */
  private static Set<Job> unfinished(PhaseEngine engine) {
    Set<Job> jobs = new HashSet<Job>();
    for (Job job : engine.jobs.values()) {
      if (job.to == NEVER) {
        jobs.add(job);
      }
    }
    for (Attempt attempt : engine.attempts.values()) {
      if (attempt.completed == NEVER) {
        jobs.add(engine.jobs.get(engine.stage(attempt.stage).job));
      }
    }
    for (RunningTask task : engine.running.values()) {
      jobs.add(engine.jobs.get(engine.stage(task.stage).job));
    }
    jobs.remove(null); // whose start is lost
    return jobs;
  }

  /**
   * Tells whether open jobs, tasks or executions may still change the phases before the horizon. A task
   * shows its output only at its end. In an execution that writes, later jobs decide which earlier ones
   * wrote and when the commit began.
   */
  static boolean undecided(PhaseEngine engine, long horizon) {
    for (RunningTask task : engine.running.values()) {
      Job job = engine.jobs.get(engine.stage(task.stage).job);
      if (task.launched < horizon && (job == null || job.highestStage == task.stage)) {
        return true;
      }
    }
    Set<Long> open = new HashSet<Long>();
    for (Job job : unfinished(engine)) {
      open.add(engine.executionOf(job));
    }
    Map<Long, Writing> writing = Classifier.writing(engine, Classifier.writingJobs(engine));
    for (Map.Entry<Long, Execution> e : engine.executions.entrySet()) {
      Execution execution = e.getValue();
      boolean undecided = execution.from < horizon && (execution.to == NEVER || open.contains(e.getKey()));
      if (undecided && (execution.writes || writing.get(e.getKey()).any)) {
        return true;
      }
    }
    return false;
  }

  /** Removes what ended before the horizon, except what later phases still depend on. */
  void forget() {
    Set<Integer> writers = Classifier.writingJobs(engine);
    forgetAttempts();
    findKeptJobs();
    Set<Long> kept = keptExecutions();
    Set<Integer> over = jobsOver(kept);
    forgetStages(writers, kept, over);
    engine.jobs.keySet().removeAll(over);
    engine.executions.keySet().retainAll(kept);
    forgetOperations();
    forgetExecutors();
    engine.tasks.dropBefore(horizon);
    engine.written.dropBefore(horizon);
  }

  private void forgetAttempts() {
    for (RunningTask task : engine.running.values()) {
      openStages.add(task.stage);
    }
    for (Iterator<Attempt> i = engine.attempts.values().iterator(); i.hasNext(); ) {
      Attempt attempt = i.next();
      if (attempt.completed <= horizon) {
        i.remove();
      } else {
        openStages.add(attempt.stage);
      }
    }
    engine.exclusions.retainAttempts(engine.attempts.keySet());
  }

  /** Tasks may end after their stage and job. */
  private void findKeptJobs() {
    for (Map.Entry<Integer, Job> e : engine.jobs.entrySet()) {
      if (e.getValue().to > horizon) {
        keptJobs.add(e.getKey());
      }
    }
    for (Map.Entry<Integer, Stage> e : engine.stages.entrySet()) {
      if (e.getValue().lastFinish > horizon || openStages.contains(e.getKey())) {
        keptJobs.add(e.getValue().job);
      }
    }
  }

  private Set<Long> keptExecutions() {
    Set<Long> kept = new HashSet<Long>();
    for (Map.Entry<Long, Execution> e : engine.executions.entrySet()) {
      Execution root = engine.executions.get(e.getValue().root);
      if (e.getValue().to > horizon || root != null && root.to > horizon && !losesJobs(root)) {
        kept.add(e.getKey());
      }
    }
    for (Map.Entry<Integer, Job> e : engine.jobs.entrySet()) {
      Job job = e.getValue();
      Execution own = engine.executions.get(engine.executionOf(job));
      if (own == null || !keptJobs.contains(e.getKey()) && own.to <= horizon) {
        continue;
      }
      kept.add(job.execution);
      Execution root = engine.executions.get(own.root);
      if (root != null && job.from <= root.to) {
        kept.add(own.root);
      }
    }
    return kept;
  }

  /** Tells whether an execution that is still open loses its jobs and parts. */
  private boolean losesJobs(Execution execution) {
    return forced && execution.to == NEVER;
  }

  /** The jobs to remove. Of other executions that are kept, all jobs are needed to know the latest. */
  private Set<Integer> jobsOver(Set<Long> kept) {
    Set<Integer> over = new HashSet<Integer>();
    for (Map.Entry<Integer, Job> e : engine.jobs.entrySet()) {
      long execution = engine.executionOf(e.getValue());
      Execution own = engine.executions.get(execution);
      boolean needed = own != null && kept.contains(execution) && !losesJobs(own);
      if (needed || keptJobs.contains(e.getKey())) {
        continue;
      }
      over.add(e.getKey());
      if (own != null) {
        own.latestForgotten = Math.max(own.latestForgotten, e.getKey());
        Execution root = engine.executions.get(own.root);
        if (root != null && e.getValue().from <= root.to) {
          root.latestForgotten = Math.max(root.latestForgotten, e.getKey());
        }
      }
    }
    return over;
  }

  private void forgetStages(Set<Integer> writers, Set<Long> kept, Set<Integer> over) {
    for (Iterator<Map.Entry<Integer, Stage>> i = engine.stages.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<Integer, Stage> e = i.next();
      Stage stage = e.getValue();
      Job job = engine.jobs.get(stage.job);
      boolean ended = stage.lastFinish <= horizon && !openStages.contains(e.getKey());
      if (ended && (job == null || over.contains(stage.job))) {
        Long execution = job == null ? null : (Long) engine.executionOf(job);
        Execution own = kept.contains(execution) ? engine.executions.get(execution) : null;
        if (own != null) {
          own.forgotten.add(Classifier.wrote(stage, writers), stage.lastFinish);
        }
        i.remove();
      } else if (stage.results != null) {
        stage.results.dropBefore(horizon);
      }
    }
  }

  private void forgetOperations() {
    for (Iterator<Operation> i = engine.operations.values().iterator(); i.hasNext(); ) {
      if (i.next().to <= horizon) {
        i.remove();
      }
    }
  }

  private void forgetExecutors() {
    Set<String> used = new HashSet<String>();
    for (RunningTask task : engine.running.values()) {
      used.add(task.executor);
    }
    for (Iterator<Map.Entry<String, Executor>> i = engine.executors.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<String, Executor> e = i.next();
      if (e.getValue().to <= horizon && !used.contains(e.getKey())) {
        engine.exclusions.forgetExecutor(e.getKey());
        i.remove();
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
