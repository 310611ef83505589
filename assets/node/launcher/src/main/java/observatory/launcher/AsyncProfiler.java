package observatory.launcher;

import java.io.File;
import java.io.FileNotFoundException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.jar.JarFile;

/**
 * async-profiler, in a separate class loader, so it cannot conflict with another version bundled by
 * the application.
 */
final class AsyncProfiler {
  private static final String CLASS = "one.profiler.AsyncProfiler";

  private final Object instance;
  private final Method execute;

  /** Loads the native library, which the jar contains for each platform. */
  AsyncProfiler(File jar) throws Exception {
    if (!jar.isFile()) {
      throw new FileNotFoundException(jar.getPath());
    }
    // Fails with the actual cause; a class loader would only throw ClassNotFoundException.
    new JarFile(jar).close();
    URLClassLoader loader = new URLClassLoader(new URL[] {jar.toURI().toURL()}, null);
    Class<?> type = Class.forName(CLASS, true, loader);
    instance = type.getMethod("getInstance").invoke(null);
    execute = type.getMethod("execute", String.class);
  }

  /** Runs a command, in the syntax of async-profiler's agent options. */
  void execute(String command) throws Exception {
    execute.invoke(instance, command);
  }
}
