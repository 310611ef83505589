package observatory.launcher;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.DefaultConfiguration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.spi.StandardLevel;

/**
 * An appender for Spark's log4j 2. This class must not be loaded before Spark has initialized log4j:
 * it would initialize log4j itself, with whatever configuration exists at that moment.
 */
final class LogCapture extends AbstractAppender implements Runnable {
  /** A class that log4j loads once a context has a configuration: LogManager is then initialized. */
  static final String LOG4J_INITIALIZED = "org.apache.logging.log4j.core.config.AppenderControl";

  private final LogBuffer logs;
  private final LoggerContext context;
  private Configuration attachedTo;

  LogCapture(LogBuffer logs) {
    super("observatory", null, null, true, Property.EMPTY_ARRAY);
    this.logs = logs;
    this.context = context();
    start();
  }

  private static LoggerContext context() {
    return (LoggerContext) LogManager.getContext(ClassLoader.getSystemClassLoader(), false);
  }

  /**
   * Tells whether log4j has a configuration of somebody's. Without a file it begins with one of its
   * own, which Spark replaces if its only appender is log4j's (Logging.isLog4j2DefaultConfigured). With
   * ours beside it, Spark would keep it, and the job would log nothing but errors.
   */
  static boolean isConfigured() {
    return !(context().getConfiguration() instanceof DefaultConfiguration);
  }

  /**
   * Attaches this appender to the current configuration. A reload replaces the configuration and
   * drops the appender, so this is called periodically.
   */
  @Override
  public void run() {
    Configuration configuration = context.getConfiguration();
    if (configuration == attachedTo) {
      return;
    }
    configuration.getRootLogger().addAppender(this, null, null);
    for (LoggerConfig logger : configuration.getLoggers().values()) {
      if (!logger.isAdditive() && logger != configuration.getRootLogger()) {
        logger.addAppender(this, null, null);
      }
    }
    attachedTo = configuration;
  }

  @Override
  public void append(LogEvent event) {
    // Skip events logged by the sender thread: exporting them would log again, endlessly.
    if (Telemetry.THREAD.equals(event.getThreadName())) {
      return;
    }
    Level level = event.getLevel();
    LogRecord record =
        new LogRecord(
            event.getTimeMillis(),
            event.getLoggerName(),
            level.name(),
            severity(level.getStandardLevel()),
            event.getMessage() == null ? "" : event.getMessage().getFormattedMessage());
    for (Map.Entry<String, String> e : event.getContextData().toMap().entrySet()) {
      record.put(e.getKey(), e.getValue());
    }
    Throwable thrown = event.getThrown();
    if (thrown != null) {
      record.put("exception.type", thrown.getClass().getName());
      record.put("exception.message", thrown.getMessage());
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      record.put("exception.stacktrace", trace.toString());
    }
    logs.add(record);
  }

  private static int severity(StandardLevel level) {
    switch (level) {
      case FATAL:
        return 21;
      case ERROR:
        return 17;
      case WARN:
        return 13;
      case INFO:
        return 9;
      case DEBUG:
        return 5;
      default:
        return 1;
    }
  }
}
