package observatory.launcher;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * Finds Pyroscope's Java agent, which a job may bring along. It records with an async-profiler of its
 * own. The JVM has one profiling timer and one handler of its signal, so the second recording would
 * take the samples of the first.
 */
final class OtherProfiler {
  private static final String PYROSCOPE = "io.pyroscope.javaagent.PyroscopeAgent";
  private static final String OPTION = "-javaagent:";

  private OtherProfiler() {}

  /**
   * Tells whether the agent has started, or is going to: the agents before it may take longer than we
   * wait for main.
   */
  static boolean isHere(LoadedClasses classes) {
    if (classes.find(PYROSCOPE) != null) {
      return true;
    }
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith(OPTION) && PYROSCOPE.equals(premainClass(argument.substring(OPTION.length())))) {
        return true;
      }
    }
    return false;
  }

  /** Returns the class that an agent's jar starts with, null if that cannot be told. */
  private static String premainClass(String jarAndOptions) {
    int options = jarAndOptions.indexOf('=');
    File file = new File(options < 0 ? jarAndOptions : jarAndOptions.substring(0, options));
    try (JarFile jar = new JarFile(file)) {
      Manifest manifest = jar.getManifest();
      return manifest == null ? null : manifest.getMainAttributes().getValue(new Attributes.Name("Premain-Class"));
    } catch (IOException e) {
      return null;
    }
  }
}
