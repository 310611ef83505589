package observatory.launcher;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.jar.JarFile;

/**
 * Pyroscope's Java agent and its configuration as system properties. What the user set stays, except
 * that identity is merged into the user's own labels: a profile without it cannot be found again.
 */
final class PyroscopeAgent {
  private static final String LABELS = "pyroscope.labels";
  private static final String PREMAIN = "io.pyroscope.javaagent.PyroscopeAgent";

  private final Map<String, String> properties = new LinkedHashMap<String, String>();

  /** Fails where the node's facts are missing: nobody would be there to send profiles to. */
  PyroscopeAgent(SparkProcess process, String applicationId) throws IOException {
    NodeFacts facts = NodeFacts.read(Platform.FACTS_FILE);
    Map<String, String> identity = new LinkedHashMap<String, String>();
    for (String label : Platform.HOST_LABELS) {
      identity.put(label, facts.get(label));
    }
    identity.put(Platform.LABEL_APP_ID, applicationId);
    identity.put(Platform.LABEL_EXECUTOR_ID, process.executorId);
    properties.put("pyroscope.application.name", process.service);
    properties.put(LABELS, merged(identity));
    properties.put(
        "pyroscope.server.address",
        "http://" + facts.get(Platform.FACT_CONTROL) + ":" + Platform.PYROSCOPE_PORT);
    properties.put("pyroscope.format", "jfr");
    properties.put("pyroscope.profiler.event", "itimer");
    properties.put("pyroscope.profiler.alloc", "512k");
    properties.put("pyroscope.profiler.lock", "10ms");
    properties.put("pyroscope.log.level", "warn");
  }

  void start(Instrumentation instrumentation) throws Exception {
    for (Map.Entry<String, String> p : properties.entrySet()) {
      if (p.getKey().equals(LABELS) || given(p.getKey()) == null) {
        System.setProperty(p.getKey(), p.getValue());
      }
    }
    File file = new File(Platform.PYROSCOPE_JAR);
    if (!file.isFile()) {
      throw new FileNotFoundException(file.getPath());
    }
    instrumentation.appendToSystemClassLoaderSearch(new JarFile(file));
    Class.forName(PREMAIN, true, ClassLoader.getSystemClassLoader())
        .getMethod("premain", String.class, Instrumentation.class)
        .invoke(null, "", instrumentation);
  }

  private static String given(String key) {
    String value = System.getProperty(key);
    String variable = key.toUpperCase(Locale.ROOT).replace('.', '_');
    return value == null ? System.getenv(variable) : value;
  }

  private static String merged(Map<String, String> identity) {
    Map<String, String> all = new LinkedHashMap<String, String>();
    String given = given(LABELS);
    for (String pair : (given == null ? "" : given).split(",")) {
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
