package observatory.launcher;

import java.util.LinkedHashMap;
import java.util.Map;

/** A copy of one log event: log4j reuses its event objects. */
final class LogRecord {
  /** Longest text sent; the full text is in the container's log file. */
  private static final int MAX_CHARACTERS = 64 << 10;

  final long millis;
  final String logger;
  final String level;
  final int severity; // OTLP's: 1 trace, 5 debug, 9 info, 13 warn, 17 error, 21 fatal
  final String body;
  final Map<String, String> attributes = new LinkedHashMap<String, String>();

  /** The application that ran when this was logged; null if its id was not known yet. */
  final String applicationId = Signals.applicationId();

  /** The span that this belongs to, or null. */
  final Signals.Trace trace = Signals.trace();

  LogRecord(long millis, String logger, String level, int severity, String body) {
    this.millis = millis;
    this.logger = logger == null ? "" : logger;
    this.level = level;
    this.severity = severity;
    this.body = truncate(body);
  }

  void put(String key, String value) {
    if (key != null && value != null) {
      attributes.put(key, truncate(value));
    }
  }

  /** Approximate heap size, in characters. */
  int size() {
    int size = 100 + body.length();
    for (Map.Entry<String, String> e : attributes.entrySet()) {
      size += 50 + e.getKey().length() + e.getValue().length();
    }
    return size;
  }

  private static String truncate(String text) {
    if (text == null) {
      return "";
    }
    return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS);
  }
}
