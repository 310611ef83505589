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

/**
 * Tells what an application's wall clock was spent on, from the times that events carry, in whatever
 * order they come. It decides nothing before it is asked, because a write shows only afterwards. The
 * Go package phases does the same with an event log.
 */
final class PhaseEngine {
  private static final long NEVER = Facts.NEVER;
  private static final int NONE = Facts.NONE;

  final Map<Integer, Stage> stages = new HashMap<Integer, Stage>();
  final Map<Long, Attempt> attempts = new HashMap<Long, Attempt>();
  final Map<Integer, Job> jobs = new HashMap<Integer, Job>();
  final Map<Long, Execution> executions = new HashMap<Long, Execution>();
  final Map<String, Operation> operations = new HashMap<String, Operation>();
  final Map<String, Executor> executors = new HashMap<String, Executor>();
  final Exclusions exclusions = new Exclusions();
  final Map<Long, RunningTask> running = new HashMap<Long, RunningTask>();

  /** Tasks whose end came before their start. */
  private final Set<Long> early = new HashSet<Long>();

  final Intervals tasks = new Intervals();

  /** Times of result tasks with output. */
  final Intervals written = new Intervals();

  Deployment deployment = Deployment.UNKNOWN;

  boolean started;
  boolean ended;
  long start = NEVER;
  long driverRegistered = NEVER;
  long firstLaunch = NEVER;

  /** When the executors were there that the constructor waits for, if that is folded. */
  long registered = NEVER;

  private long first = NEVER;
  private Folded folded = new Folded();
  private boolean incomplete;
  private long end;
  private long last;
  private long firstExecutor = NEVER;

  void configure(Deployment known) {
    deployment = known;
  }

  /**
   * The context's start, which ApplicationStart repeats when YARN has accepted the application. Here and
   * at the end, 0 is a time that this Spark does not tell.
   */
  void applicationStart(long time) {
    if (time > 0) {
      see(time);
      started = true;
      start = time;
    }
  }

  void applicationEnd(long time) {
    if (time > 0) {
      see(time);
      ended = true;
      end = time;
    }
  }

  private void see(long time) {
    if (time > 0) {
      first = Math.min(first, time);
      last = Math.max(last, time);
    }
  }

  void blockManagerAdded(String executor, long time) {
    see(time);
    if (Platform.DRIVER_ID.equals(executor)) {
      driverRegistered = Math.min(driverRegistered, time);
    } else {
      Executor known = executor(executor);
      known.ready = Math.min(known.ready, time);
    }
  }

  /** profile: of its resources; negative if the event does not say. */
  void executorAdded(String id, long time, String host, long profile) {
    see(time);
    if (!Platform.DRIVER_ID.equals(id)) {
      Executor added = executor(id);
      added.registered = time;
      added.host = host;
      added.profile = Math.max(0, profile);
      firstExecutor = Math.min(firstExecutor, time);
    }
  }

  void executorRemoved(String id, long time) {
    see(time);
    if (!Platform.DRIVER_ID.equals(id)) {
      executor(id).to = time;
    }
  }

  /** See Exclusions. */
  void excluded(String whose, Long attempt, long time, boolean undo) {
    if (time > 0) {
      see(time);
      exclusions.add(whose, attempt, time, undo);
    }
  }

  Executor executor(String id) {
    if (!executors.containsKey(id)) {
      executors.put(id, new Executor());
    }
    return executors.get(id);
  }

  /** execution is NONE for a job outside SQL. */
  void jobStart(int id, long time, long execution) {
    see(time);
    Job job = job(id);
    job.from = time;
    job.execution = execution;
    Execution own = executions.get(executionOf(job));
    if (own != null) {
      own.latestJob = Math.max(own.latestJob, id);
      Execution root = executions.get(own.root);
      if (root != null && time <= root.to) {
        root.latestJob = Math.max(root.latestJob, id);
      }
    }
  }

  /**
   * The execution that a job is part of, NONE if there is none. Spark's threads inherit the id of the
   * execution that started them, and a pool keeps its threads: a job that starts after the execution's
   * end only carries the id.
   */
  long executionOf(Job job) {
    Execution known = executions.get(job.execution);
    return known == null || job.from <= known.to ? job.execution : NONE;
  }

  void jobStage(int jobId, int stageId) {
    Job job = job(jobId);
    job.highestStage = Math.max(job.highestStage, stageId);
    Stage stage = stage(stageId);
    stage.job = Math.max(stage.job, jobId);
  }

  void jobEnd(int id, long time) {
    see(time);
    job(id).to = time;
  }

  private Job job(int id) {
    if (!jobs.containsKey(id)) {
      jobs.put(id, new Job());
    }
    return jobs.get(id);
  }

  void stageSubmitted(int id, int attempt, long submitted) {
    see(submitted);
    Attempt known = attempt(id, attempt);
    known.submitted = Math.max(known.submitted, submitted);
  }

  void stageCompleted(int id, int attempt, long submitted, long completed, boolean failed, int tasks) {
    stageSubmitted(id, attempt, submitted);
    see(completed);
    Attempt known = attempt(id, attempt);
    known.completed = completed > 0 ? completed : NEVER;
    known.failed = failed;
    known.tasks = tasks;
  }

  Attempt attempt(int stage, int number) {
    Long key = key(stage, number);
    if (!attempts.containsKey(key)) {
      attempts.put(key, new Attempt(stage, number == 0));
    }
    return attempts.get(key);
  }

  /** Of an attempt of a stage. */
  static long key(int stage, int attempt) {
    return (long) stage << 32 | attempt;
  }

  void taskStart(long id, int stage, long launched, String executor) {
    see(launched);
    firstLaunch = Math.min(firstLaunch, launched);
    if (early.isEmpty() || !early.remove(id)) {
      running.put(id, new RunningTask(stage, executor, launched));
    }
  }

  /**
   * result: a task of the job's last stage; wrote: its metrics count output. Returns whether the task
   * was known to run.
   */
  boolean taskEnd(
      long id, int stageId, int attempt, long launched, long finished, boolean result, boolean wrote, boolean succeeded) {
    see(launched);
    see(finished);
    firstLaunch = Math.min(firstLaunch, launched);
    boolean ran = running.remove(id) != null;
    if (!ran && early.size() < Limits.EARLY_TASKS) {
      early.add(id);
    }
    tasks.add(launched, finished);
    Stage stage = stage(stageId);
    stage.lastFinish = Math.max(stage.lastFinish, finished);
    if (succeeded && attempt == 0) {
      stage.succeeded++;
    }
    if (result && wrote) {
      stage.wrote = true;
      written.add(launched, finished);
    } else if (result) {
      if (stage.results == null) {
        stage.results = new Intervals();
      }
      stage.results.add(launched, finished);
    }
    return ran;
  }

  Stage stage(int id) {
    Stage stage = stages.get(id);
    if (stage == null) {
      stage = new Stage();
      stages.put(id, stage);
    }
    return stage;
  }

  void executionStart(long id, long root, long time, boolean writes) {
    see(time);
    Execution execution = execution(id);
    execution.from = time;
    execution.root = root;
    execution.writes |= writes;
  }

  void executionPlan(long id, boolean writes) {
    Execution execution = execution(id);
    incomplete |= writes && !execution.writes && execution.from < folded.until; // it wrote in what is folded
    execution.writes |= writes;
  }

  void executionEnd(long id, long time) {
    see(time);
    execution(id).to = time;
  }

  /** Of Spark Connect, by the number of ConnectTags. */
  void operationStart(String number, long time) {
    see(time);
    operation(number).from = time;
  }

  /** The first of several ends counts. */
  void operationEnd(String number, long time) {
    see(time);
    Operation operation = operation(number);
    operation.to = Math.min(operation.to, time);
  }

  void sessionStart(long time) {
    see(time);
  }

  /** The server ends a session's operations with it, and may not say so. */
  void sessionEnd(String session, long time) {
    see(time);
    for (Map.Entry<String, Operation> e : operations.entrySet()) {
      Operation operation = e.getValue();
      if (operation.from <= time && operation.to > time && e.getKey().startsWith(session + ".")) {
        operation.to = time;
      }
    }
  }

  private Operation operation(String number) {
    Operation operation = operations.get(number);
    if (operation == null) {
      operation = new Operation();
      operations.put(number, operation);
    }
    return operation;
  }

  private Execution execution(long id) {
    Execution execution = executions.get(id);
    if (execution == null) {
      execution = new Execution();
      execution.root = id;
      executions.put(id, execution);
    }
    return execution;
  }

  /** The division as of the latest event. */
  Phases phases() {
    return phases(last, !started || !ended || incomplete(NEVER));
  }

  /** The division as of now, for an application that runs. */
  Phases phasesAt(long now, boolean lost) {
    return phases(Math.max(now, last), lost || incomplete || ended && incomplete(NEVER));
  }

  private Phases phases(long latest, boolean approximate) {
    long until = Math.max(begin(latest), ended ? end : latest);
    return phasesUntil(Math.max(until, folded.until), approximate); // a clock may be set back
  }

  private long begin(long latest) {
    long begin = started ? start : first == NEVER ? latest : first;
    return deployment.submitted > 0 ? Math.min(begin, deployment.submitted) : begin;
  }

  private Phases phasesUntil(long until, boolean approximate) {
    long begin = begin(until);
    long wait = started && firstExecutor != NEVER ? Math.max(0, firstExecutor - start) : NONE;
    Intervals[] candidates = new Classifier(this, Math.max(begin, folded.until), until).candidates();
    return new Phases(folded, begin, until, candidates, approximate, wait);
  }

  /** Forgets what is long over, of an application that runs for weeks. */
  void fold(long now) {
    int spans = attempts.size() + jobs.size() + executions.size() + operations.size();
    int size = Math.max(spans, Math.max(stages.size(), tasks.count()));
    if (!ended && size >= Limits.FOLDED) { // the wall clock ends with the application, before now
      fold(now, size >= Limits.HELD);
    }
  }

  /** forced: although something in the past is still open. */
  void fold(long now, boolean forced) {
    long horizon = forced ? Forgetting.latest(now) : Forgetting.horizon(this, now);
    if (horizon > Math.max(folded.until, begin(now))) {
      incomplete |= incomplete(horizon) || Forgetting.undecided(this, horizon);
      folded = new Folded(phasesUntil(horizon, false), horizon);
      registered = Constructor.registered(this, horizon);
      new Forgetting(this, horizon, forced).forget();
      early.clear();
    }
  }

  /** Until when the past is folded; Long.MIN_VALUE: it is not. */
  long foldedUntil() {
    return folded.until;
  }

  /** Tells whether a stage succeeded, by then, with fewer successful tasks than it has. */
  private boolean incomplete(long until) {
    if (incomplete) {
      return true;
    }
    for (Attempt attempt : attempts.values()) {
      boolean succeeded = attempt.first && attempt.completed <= until && !attempt.failed;
      if (succeeded && stage(attempt.stage).succeeded < attempt.tasks) {
        return true;
      }
    }
    return false;
  }
}
