package observatory.spark;

import java.util.HashMap;
import java.util.HashSet;
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

/** Finds, for each phase, the instants of [begin, end) where it may apply; they may overlap. */
final class Classifier {
  static final int NO = 0;
  static final int PERHAPS = 1;
  static final int YES = 2;

  private static final long NEVER = Facts.NEVER;

  private final PhaseEngine engine;
  private final long begin;
  private final long end;
  private final Intervals tasks = new Intervals();
  private final Intervals writes = new Intervals();

  Classifier(PhaseEngine engine, long begin, long end) {
    this.engine = engine;
    this.begin = begin;
    this.end = end;
  }

  /**
   * Tells whether a job's result tasks write: its execution does, and the job is the latest of it. Until
   * the execution ends a later one may follow, as after a job that collects a broadcast.
   */
  static int writes(PhaseEngine engine, int jobId) {
    Job job = engine.jobs.get(jobId);
    Execution own = job == null ? null : engine.executions.get(engine.executionOf(job));
    if (own == null) {
      return NO;
    }
    return Math.max(writes(own, jobId), writes(engine.executions.get(own.root), jobId));
  }

  private static int writes(Execution execution, int job) {
    if (execution == null || !execution.writes || execution.latestJob != job) {
      return NO;
    }
    return execution.to == NEVER ? PERHAPS : YES;
  }

  Intervals[] candidates() {
    Intervals[] candidates = new Intervals[Phases.COUNT];
    classifyTasks();
    candidates[Phases.IO_WRITE] = writes;
    candidates[Phases.COMPUTE] = tasks;
    candidates[Phases.RESOURCE_WAIT] = resourceWait();
    candidates[Phases.SUBMIT] = new Intervals();
    if (engine.deployment.cluster && engine.started) {
      candidates[Phases.SUBMIT].add(begin, engine.start);
    }
    candidates[Phases.IDLE] = idle();
    return candidates;
  }

  private void classifyTasks() {
    tasks.addAll(engine.tasks);
    writes.addAll(engine.written);
    Set<Integer> writers = writingJobs(engine);
    for (Stage stage : engine.stages.values()) {
      if (stage.results != null && writers.contains(stage.job)) {
        writes.addAll(stage.results);
      }
    }
    Map<Long, Writing> executions = writing(engine, writers);
    for (RunningTask task : engine.running.values()) {
      classifyRunning(task, writers, executions);
    }
    addCommits(executions);
  }

  /** What the ended tasks of each execution's own jobs wrote. */
  static Map<Long, Writing> writing(PhaseEngine engine, Set<Integer> writers) {
    Map<Long, Writing> executions = new HashMap<Long, Writing>();
    for (Map.Entry<Long, Execution> e : engine.executions.entrySet()) {
      Writing writing = new Writing();
      writing.add(e.getValue().forgotten.any, e.getValue().forgotten.lastFinish);
      executions.put(e.getKey(), writing);
    }
    for (Stage stage : engine.stages.values()) {
      Job job = engine.jobs.get(stage.job);
      Writing writing = job == null ? null : executions.get(engine.executionOf(job));
      if (writing != null) {
        writing.add(wrote(stage, writers), stage.lastFinish);
      }
    }
    return executions;
  }

  /** Tells whether the ended tasks of a stage wrote, given the jobs whose result tasks write. */
  static boolean wrote(Stage stage, Set<Integer> writers) {
    return stage.wrote || stage.results != null && writers.contains(stage.job);
  }

  private void classifyRunning(RunningTask task, Set<Integer> writers, Map<Long, Writing> executions) {
    Executor executor = engine.executors.get(task.executor);
    long to = executor == null ? end : Math.min(end, executor.to);
    tasks.add(task.launched, to);
    Stage stage = engine.stages.get(task.stage);
    if (stage == null || !writers.contains(stage.job)) {
      return;
    }
    Job job = engine.jobs.get(stage.job);
    // With adaptive execution each shuffle is a job of its own, the latest while it runs. The import of an
    // event log cannot tell it from output, and must find the same final phases.
    boolean shuffles = stage.shuffles && !engine.ended;
    if (job.highestStage == task.stage && !shuffles) {
      writes.add(task.launched, to);
      Writing writing = executions.get(engine.executionOf(job));
      if (writing != null) {
        writing.any = true;
      }
    }
  }

  /**
   * Jobs whose result tasks write because of the plan: of an execution that writes, the latest of its
   * own jobs and its parts'. Earlier ones prepare: broadcasts, and with adaptive execution a job for
   * each stage.
   */
  static Set<Integer> writingJobs(PhaseEngine engine) {
    Map<Long, Integer> latest = new HashMap<Long, Integer>();
    for (Map.Entry<Integer, Job> e : engine.jobs.entrySet()) {
      long id = engine.executionOf(e.getValue());
      Execution execution = engine.executions.get(id);
      if (execution == null) {
        continue;
      }
      note(latest, id, execution, e.getKey());
      Execution root = engine.executions.get(execution.root);
      if (root != null && root != execution && e.getValue().from <= root.to) {
        note(latest, execution.root, root, e.getKey());
      }
    }
    return new HashSet<Integer>(latest.values());
  }

  private static void note(Map<Long, Integer> latest, long id, Execution execution, Integer job) {
    if (execution.writes) {
      Integer known = latest.get(id);
      if (job > execution.latestForgotten && (known == null || known < job)) {
        latest.put(id, job);
      }
    }
  }

  /** An execution that wrote and has no task left: the driver moves or completes what tasks wrote. */
  private void addCommits(Map<Long, Writing> executions) {
    Set<Long> open = new HashSet<Long>();
    for (Job job : engine.jobs.values()) {
      if (job.from != NEVER && job.to == NEVER) {
        open.add(engine.executionOf(job));
      }
    }
    for (Map.Entry<Long, Writing> e : executions.entrySet()) {
      Writing writing = e.getValue();
      Execution execution = engine.executions.get(e.getKey());
      if (!writing.any || execution == null || writing.lastFinish == 0) {
        continue;
      }
      if (execution.to != NEVER || !open.contains(e.getKey())) {
        writes.add(writing.lastFinish, Math.min(end, execution.to));
      }
    }
  }

  private Intervals resourceWait() {
    if (engine.deployment.local) {
      return new Intervals();
    }
    return Demand.unserved(engine, end).addAll(Constructor.waits(engine, end));
  }

  private Intervals idle() {
    Intervals idle = new Intervals();
    if (!engine.deployment.sessions) {
      return idle;
    }
    idle.add(engine.started ? engine.start : begin, end);
    Intervals busy = new Intervals();
    for (Job job : engine.jobs.values()) {
      busy.add(job.from, job.to);
    }
    for (Execution execution : engine.executions.values()) {
      busy.add(execution.from, execution.to);
    }
    for (Operation operation : engine.operations.values()) {
      busy.add(operation.from, operation.to);
    }
    for (Attempt attempt : engine.attempts.values()) {
      if (attempt.submitted > 0) {
        busy.add(attempt.submitted, attempt.completed);
      }
    }
    return Intervals.minus(idle, busy);
  }
}
