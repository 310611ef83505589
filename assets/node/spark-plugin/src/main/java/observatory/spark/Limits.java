package observatory.spark;

/** Bounds of what the plugin keeps, for applications that run for weeks. */
final class Limits {
  private Limits() {}

  static final int EARLY_TASKS = 10_000;

  /** Spans of a kind that are open at once. */
  static final int OPEN_SPANS = 5_000;

  static final int STAGES = 20_000;

  /** Jobs, stages and SQL executions, or separate intervals of tasks, before the past is folded. */
  static final int FOLDED = 20_000;

  /**
   * At this size the past is folded even if something in it is still open: a job that never ends, such
   * as a receiver's, or one whose end was lost.
   */
  static final int HELD = 2 * FOLDED;

  /** Stages that run or whose last tasks are awaited. */
  static final int SKEWED_STAGES = 1_000;

  /** Jobs that may be the one in which their execution writes. */
  static final int UNSURE_JOBS = 1_000;

  /** Operations of Spark Connect that have ended and whose jobs may not have; sessions likewise. */
  static final int ENDED_OPERATIONS = 1_000;

  /** Streaming queries whose latest complete batch is known. */
  static final int QUERIES = 1_000;

  /** Phases of an application that have a span: the longest. */
  static final int PHASE_SPANS = 1_000;

  /** Ended contexts of a JVM whose metrics are kept. */
  static final int ENDED_CONTEXTS = 8;
}
