package observatory.launcher;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;

/**
 * Gives Spark the plugin, in a JVM that has its jar. Spark reads the list of default plugins out of
 * the system properties, and prepends it to the plugins of the job. A class of the list that does not
 * load ends the context, so the list names one that is in the launcher's own jar.
 */
final class PluginJar {
  static final String DEFAULT_PLUGINS = "spark.plugins.defaultList";
  static final String PLUGIN = "observatory.launcher.SparkPlugin";

  static final String DRIVER_HALF = "observatory.spark.DriverHalf";
  static final String EXECUTOR_HALF = "observatory.spark.ExecutorHalf";

  private static final String SEPARATOR = ",";

  private PluginJar() {}

  /** Adds the jar to the class path, then the property. Throws if the jar is not usable. */
  static void install(Instrumentation instrumentation) throws IOException {
    JarFile jar = new JarFile(new File(Platform.PLUGIN_JAR));
    if (jar.getEntry(DRIVER_HALF.replace('.', '/') + ".class") == null) {
      jar.close();
      throw new IOException(Platform.PLUGIN_JAR + " has no " + DRIVER_HALF);
    }
    instrumentation.appendToSystemClassLoaderSearch(jar);
    String others = System.getProperty(DEFAULT_PLUGINS, "");
    System.setProperty(DEFAULT_PLUGINS, others.isEmpty() ? PLUGIN : PLUGIN + SEPARATOR + others);
  }

  /** Returns a list of plugins without ours, null if nothing is left. */
  static String without(String list) {
    StringBuilder rest = new StringBuilder();
    for (String name : list.split(SEPARATOR)) {
      if (!name.trim().equals(PLUGIN)) {
        rest.append(rest.length() == 0 ? "" : SEPARATOR).append(name.trim());
      }
    }
    return rest.length() == 0 ? null : rest.toString();
  }
}
