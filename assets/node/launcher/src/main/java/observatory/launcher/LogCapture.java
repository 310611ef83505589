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
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.spi.StandardLevel;

/**
 * An appender on Spark's own log4j 2. This class must not be touched before Spark has started its
 * logging: it would start it, with whatever configuration is there at that moment.
 */
final class LogCapture extends AbstractAppender implements Runnable {
  /** Loaded once a context has a configuration, so that LogManager is past its own start. */
  static final String SIGN_OF_LOG4J = "org.apache.logging.log4j.core.config.AppenderControl";

  private final LogBuffer logs;
  private final LoggerContext context;
  private Configuration attachedTo;

  LogCapture(LogBuffer logs) {
    super("observatory", null, null, true, Property.EMPTY_ARRAY);
    this.logs = logs;
    this.context = (LoggerContext) LogManager.getContext(ClassLoader.getSystemClassLoader(), false);
    start();
  }

  /** Attaches to the configuration in force, if that is not done; one that is read anew forgets us. */
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
    // What sending itself logs would be sent, and so without end.
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
