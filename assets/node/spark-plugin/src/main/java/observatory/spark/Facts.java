package observatory.spark;

/** What an engine keeps of the things that an application consists of. Times are epoch milliseconds. */
final class Facts {
  /** The time of what has not happened. */
  static final long NEVER = Long.MAX_VALUE;

  static final int NONE = -1;

  private Facts() {}

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

    /** Its tasks write for a shuffle, not output. Event logs do not have it. */
    boolean shuffles;
  }

  static final class Attempt {
    final int stage;
    final boolean first;
    long submitted;
    long completed = NEVER;
    boolean failed;

    /** Number of tasks, known at completion. */
    int tasks;

    /** Of the resources that its tasks need. */
    long profile;

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

    /** What its forgotten jobs wrote. */
    final Writing forgotten = new Writing();

    /** The latest job that is forgotten, its own or its parts'. */
    int latestForgotten = NONE;
  }

  /** What is known of the writing of an execution's own jobs. */
  static final class Writing {
    boolean any;
    long lastFinish;

    void add(boolean wrote, long finish) {
      any |= wrote;
      lastFinish = Math.max(lastFinish, finish);
    }
  }

  /** What a client of Spark Connect has asked for. */
  static final class Operation {
    long from = NEVER;
    long to = NEVER;
  }

  static final class Executor {
    long registered = NEVER;

    /** Its block manager's time: it can run tasks, seconds after it registered. */
    long ready = NEVER;

    long to = NEVER;

    /** null if its registration is lost. */
    String host;

    /** Of its resources. */
    long profile;

    /** Since when it can run tasks. Its block manager's event may be lost. */
    long from() {
      return ready == NEVER ? registered : ready;
    }
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
}
