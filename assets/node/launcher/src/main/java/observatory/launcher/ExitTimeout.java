package observatory.launcher;

/**
 * How long the launcher may delay the end of a JVM in order to send its last telemetry and profile.
 * What has not been sent by then is lost. A property of the JVM overrides the default.
 */
final class ExitTimeout {
  static final long MILLIS = Math.max(0, Long.getLong(Platform.EXIT_PROPERTY, Platform.EXIT_MILLIS));

  private ExitTimeout() {}
}
