package observatory.launcher;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What is profiled, and the name and labels that profiles are sent with. User settings take
 * precedence; they use the Pyroscope Java agent's names, as system properties or environment
 * variables. Identity labels are merged into the user's labels: without them a profile cannot be
 * found.
 */
final class ProfilerSettings {
  /**
   * CPU samples per second of a busy thread. Pyroscope needs the rate to convert sample counts to
   * CPU time.
   */
  static final int SAMPLE_RATE = 100;

  final boolean enabled;
  final String server;

  /**
   * Keeps async-profiler from writing to the application's standard output. The log level must be
   * passed with every command.
   */
  private static final String QUIET = ",loglevel=none";

  /**
   * Omits system properties and the JVM's command line, which may contain secrets, and other unused
   * JFR events.
   */
  private static final String JFR_OPTIONS = ",jfropts=0x1f";

  private final SparkProcess process;
  private final NodeFacts facts;
  private final String events;
  private final String allocations;

  ProfilerSettings(SparkProcess process, NodeFacts facts) {
    this.process = process;
    this.facts = facts;
    enabled = !"false".equalsIgnoreCase(given("pyroscope.agent.enabled", ""));
    server =
        given(
            "pyroscope.server.address",
            "http://" + facts.get(Platform.FACT_CONTROL) + ":" + Platform.PYROSCOPE_PORT);
    events =
        option("event", "itimer") + ",interval=" + 1000 / SAMPLE_RATE + "ms" + option("lock", "10ms");
    allocations = option("alloc", Platform.ALLOCATION_SAMPLE);
  }

  /** Returns service and labels, in the format of Pyroscope's /ingest. */
  String name(String applicationId) {
    Map<String, String> identity = new LinkedHashMap<String, String>();
    for (String label : Platform.HOST_LABELS) {
      identity.put(label, facts.get(label));
    }
    identity.put(Platform.LABEL_APP_ID, applicationId);
    identity.put(Platform.LABEL_EXECUTOR_ID, process.executorId);
    return given("pyroscope.application.name", process.service)
        + "{" + merged(given("pyroscope.labels", ""), identity) + "}";
  }

  /** Returns the command that starts recording into a file. */
  String start(String file, boolean withAllocations) {
    return "start" + events + (withAllocations ? allocations : "") + QUIET + ",jfr" + JFR_OPTIONS + ",file=" + file;
  }

  String stop() {
    return "stop" + QUIET;
  }

  /** Returns the option of a user setting or its default; an empty setting turns it off. */
  private static String option(String name, String byDefault) {
    String value = given("pyroscope.profiler." + name, byDefault);
    return value.isEmpty() ? "" : "," + name + "=" + value;
  }

  private static String given(String key, String byDefault) {
    String value = System.getProperty(key);
    if (value == null) {
      value = System.getenv(key.toUpperCase(Locale.ROOT).replace('.', '_'));
    }
    return value == null ? byDefault : value.trim();
  }

  private static String merged(String given, Map<String, String> identity) {
    Map<String, String> all = new LinkedHashMap<String, String>();
    for (String pair : given.split(",")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        all.put(pair.substring(0, equals).trim(), pair.substring(equals + 1).trim());
      }
    }
    for (Map.Entry<String, String> e : identity.entrySet()) {
      if (e.getValue() != null && !e.getValue().isEmpty()) {
        all.put(e.getKey().replace('.', '_'), e.getValue());
      }
    }
    StringBuilder text = new StringBuilder();
    for (Map.Entry<String, String> e : all.entrySet()) {
      text.append(text.length() == 0 ? "" : ",").append(e.getKey()).append('=').append(e.getValue());
    }
    return text.toString();
  }
}
