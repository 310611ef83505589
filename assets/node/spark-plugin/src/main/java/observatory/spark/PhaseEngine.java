package observatory.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells what an application's wall clock was spent on, from the times that events carry, in whatever
 * order they come. It decides nothing before it is asked, because a write shows only afterwards. The
 * Go package phases does the same with an event log.
 */
final class PhaseEngine {
  static final long NEVER = Long.MAX_VALUE;
  static final int NONE = -1;

  /** What all attempts of a stage have in common. */
  static final class Stage {
    /** The latest job that lists the stage. */
    int job = NONE;

    long lastFinish;

    /** Successful tasks of attempt 0. */
    int succeeded;

    /** Times of result tasks without output; null if there was none. */
    Intervals results;

    boolean wrote;
  }

  static final class Attempt {
    final int stage;
    final boolean first;
    long submitted;
    long completed = NEVER;
    boolean failed;

    /** Number of tasks, known at completion. */
    int tasks;

    Attempt(int stage, boolean first) {
      this.stage = stage;
      this.first = first;
    }
  }

  static final class Job {
    long from = NEVER;
    long to = NEVER;
    long execution = NONE;
    int highestStage = NONE;
  }

  static final class Execution {
    long root;
    long from = NEVER;
    long to = NEVER;
    boolean writes;
    int latestJob = NONE;
  }

  static final class Executor {
    long from = NEVER;
    long to = NEVER;
  }

  static final class RunningTask {
    final int stage;
    final String executor;
    final long launched;

    RunningTask(int stage, String executor, long launched) {
      this.stage = stage;
      this.executor = executor;
      this.launched = launched;
    }
  }

  final Map<Integer, Stage> stages = new HashMap<Integer, Stage>();
  final Map<Long, Attempt> attempts = new HashMap<Long, Attempt>();
  final Map<Integer, Job> jobs = new HashMap<Integer, Job>();
  final Map<Long, Execution> executions = new HashMap<Long, Execution>();
  final Map<String, Executor> executors = new HashMap<String, Executor>();
  final Map<Long, RunningTask> running = new HashMap<Long, RunningTask>();

  /** Tasks whose end came before their start. */
  private final Set<Long> early = new HashSet<Long>();

  final Intervals tasks = new Intervals();

  /** Times of result tasks with output. */
  final Intervals written = new Intervals();

  boolean local;
  boolean cluster;
  boolean sessions;
  boolean started;
  boolean ended;
  long start = NEVER;
  long driverRegistered = NEVER;
  long firstLaunch = NEVER;
  private long first = NEVER;
  private long submitted;
  private long end;
  private long last;
  private long firstExecutor = NEVER;

  /** The properties that decide how time is read; submitTime is 0 if unknown. */
  void configure(String master, String deployMode, long submitTime, String command) {
    local |= master != null && master.startsWith("local");
    cluster |= "cluster".equals(deployMode);
    if (submitTime > 0 && (submitted == 0 || submitTime < submitted)) {
      submitted = submitTime;
    }
    for (String server : Platform.SESSION_SERVERS) {
      sessions |= command != null && command.contains(server);
    }
  }

  /** The context's start, which ApplicationStart repeats when YARN has accepted the application. */
  void applicationStart(long time) {
    see(time);
    started = true;
    start = time;
  }

  void applicationEnd(long time) {
    see(time);
    ended = true;
    end = time;
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
    }
  }

  void executorAdded(String id, long time) {
    see(time);
    if (!Platform.DRIVER_ID.equals(id)) {
      executor(id).from = time;
      firstExecutor = Math.min(firstExecutor, time);
    }
  }

  void executorRemoved(String id, long time) {
    see(time);
    if (!Platform.DRIVER_ID.equals(id)) {
      executor(id).to = time;
    }
  }

  private Executor executor(String id) {
    Executor executor = executors.get(id);
    if (executor == null) {
      executor = new Executor();
      executors.put(id, executor);
    }
    return executor;
  }

  /** execution is NONE for a job outside SQL. */
  void jobStart(int id, long time, long execution) {
    see(time);
    Job job = job(id);
    job.from = time;
    job.execution = execution;
    if (execution != NONE) {
      Execution own = execution(execution);
      own.latestJob = Math.max(own.latestJob, id);
      Execution root = own.root == execution ? own : execution(own.root);
      root.latestJob = Math.max(root.latestJob, id);
    }
  }

  /** Tells whether the stage's tasks write, as far as is known: a later job may change that. */
  boolean mayWrite(int stageId) {
    Stage stage = stages.get(stageId);
    Job job = stage == null ? null : jobs.get(stage.job);
    Execution own = job == null ? null : executions.get(job.execution);
    if (own == null || job.highestStage != stageId) {
      return false;
    }
    Execution root = executions.get(own.root);
    return own.writes && own.latestJob == stage.job || root != null && root.writes && root.latestJob == stage.job;
  }

  /**
   * Events were lost: what must have ended when something else did has ended. Returns the tasks that
   * were thought to run.
   */
  List<RunningTask> reconcile() {
    for (Job job : jobs.values()) {
      Execution execution = executions.get(job.execution);
      if (job.to == NEVER && execution != null && execution.to != NEVER) {
        job.to = execution.to;
      }
    }
    for (Attempt attempt : attempts.values()) {
      Job job = jobs.get(stage(attempt.stage).job);
      if (attempt.completed == NEVER && job != null) {
        attempt.completed = job.to;
      }
    }
    List<RunningTask> lost = new ArrayList<RunningTask>();
    for (Iterator<RunningTask> i = running.values().iterator(); i.hasNext(); ) {
      RunningTask task = i.next();
      Job job = jobs.get(stage(task.stage).job);
      long limit = Math.min(job == null ? NEVER : job.to, executor(task.executor).to);
      if (limit != NEVER) {
        i.remove();
        tasks.add(task.launched, limit);
        lost.add(task);
      }
    }
    return lost;
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

  /** The SQL execution of a job, or NONE. */
  long executionOf(int job) {
    return job(job).execution;
  }

  private Job job(int id) {
    Job job = jobs.get(id);
    if (job == null) {
      job = new Job();
      jobs.put(id, job);
    }
    return job;
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

  private Attempt attempt(int stage, int number) {
    Long key = (long) stage << 32 | number;
    Attempt attempt = attempts.get(key);
    if (attempt == null) {
      attempt = new Attempt(stage, number == 0);
      attempts.put(key, attempt);
    }
    return attempt;
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

  private Stage stage(int id) {
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
    execution(id).writes |= writes;
  }

  void executionEnd(long id, long time) {
    see(time);
    execution(id).to = time;
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

  /** The division by the events so far, as of the latest one. */
  Phases phases() {
    return phases(last, !started || !ended || incomplete());
  }

  /** The division as of now, for an application that runs. */
  Phases phasesAt(long now, boolean lost) {
    return phases(Math.max(now, last), lost || ended && incomplete());
  }

  private Phases phases(long latest, boolean approximate) {
    long begin = started ? start : first == NEVER ? latest : first;
    if (submitted > 0) {
      begin = Math.min(begin, submitted);
    }
    long until = Math.max(begin, ended ? end : latest);
    long wait = started && firstExecutor != NEVER ? Math.max(0, firstExecutor - start) : NONE;
    return new Phases(begin, until, new Classifier(this, begin, until).candidates(), approximate, wait);
  }

  /** Tells whether a stage succeeded with fewer successful tasks than it has. */
  private boolean incomplete() {
    for (Attempt attempt : attempts.values()) {
      if (attempt.first && !attempt.failed && attempt.tasks > 0 && stage(attempt.stage).succeeded < attempt.tasks) {
        return true;
      }
    }
    return false;
  }
}
