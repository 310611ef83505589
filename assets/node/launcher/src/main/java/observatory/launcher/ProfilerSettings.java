package observatory.launcher;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What is profiled, and under which name it is sent. The user's settings stay, under the names of
 * Pyroscope's Java agent, as system properties or environment variables; identity is merged into the
 * user's own labels, for a profile without it cannot be found again.
 */
final class ProfilerSettings {
  /** Samples a second of a busy thread: Pyroscope reckons CPU time by it. */
  static final int SAMPLE_RATE = 100;

  final boolean enabled;
  final String server;

  /** Service and labels, as Pyroscope's /ingest takes them. */
  final String name;

  /** The application's standard output is not the profiler's; each command sets it anew. */
  private static final String QUIET = ",loglevel=none";

  /** Neither system properties nor the command line, where secrets may be, nor what nobody reads. */
  private static final String LITTLE = ",jfropts=0x1f";

  private final String events;
  private final String allocations;

  ProfilerSettings(SparkProcess process, String applicationId, NodeFacts facts) {
    Map<String, String> identity = new LinkedHashMap<String, String>();
    for (String label : Platform.HOST_LABELS) {
      identity.put(label, facts.get(label));
    }
    identity.put(Platform.LABEL_APP_ID, applicationId);
    identity.put(Platform.LABEL_EXECUTOR_ID, process.executorId);
    enabled = !"false".equalsIgnoreCase(given("pyroscope.agent.enabled", ""));
    server =
        given(
            "pyroscope.server.address",
            "http://" + facts.get(Platform.FACT_CONTROL) + ":" + Platform.PYROSCOPE_PORT);
    name =
        given("pyroscope.application.name", process.service)
            + "{" + merged(given("pyroscope.labels", ""), identity) + "}";
    events =
        option("event", "itimer") + ",interval=" + 1000 / SAMPLE_RATE + "ms" + option("lock", "10ms");
    allocations = option("alloc", Platform.ALLOCATION_SAMPLE);
  }

  /** The command that begins to record into a file. */
  String start(String file, boolean withAllocations) {
    return "start" + events + (withAllocations ? allocations : "") + QUIET + ",jfr" + LITTLE + ",file=" + file;
  }

  String stop() {
    return "stop" + QUIET;
  }

  /** A part of the profile that an empty setting leaves out. */
  private static String option(String name, String normally) {
    String value = given("pyroscope.profiler." + name, normally);
    return value.isEmpty() ? "" : "," + name + "=" + value;
  }

  private static String given(String key, String normally) {
    String value = System.getProperty(key);
    if (value == null) {
      value = System.getenv(key.toUpperCase(Locale.ROOT).replace('.', '_'));
    }
    return value == null ? normally : value.trim();
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
