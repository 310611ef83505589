package observatory.spark;

/** Bounds of what the plugin keeps, for applications that run for weeks. */
final class Limits {
  private Limits() {}

  static final int EARLY_TASKS = 10_000;

  /** Spans of a kind that are open at once. */
  static final int OPEN_SPANS = 5_000;

  static final int STAGES = 20_000;

  /** Spans of a trace from the driver, which leaves room for the application's own and its phases. */
  static final int DRIVER_SPANS = 20_000;
}
