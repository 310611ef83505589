package observatory.launcher;

import java.io.File;
import java.io.FileNotFoundException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.jar.JarFile;

/**
 * async-profiler, in a class loader of its own: an application that brings another version meets
 * neither this one's classes nor its library.
 */
final class AsyncProfiler {
  private static final String CLASS = "one.profiler.AsyncProfiler";

  private final Object instance;
  private final Method execute;

  /** Loads the native library, which the jar carries for each platform. */
  AsyncProfiler(File jar) throws Exception {
    if (!jar.isFile()) {
      throw new FileNotFoundException(jar.getPath());
    }
    new JarFile(jar).close(); // says what is wrong with it; a class loader only misses a class
    URLClassLoader loader = new URLClassLoader(new URL[] {jar.toURI().toURL()}, null);
    Class<?> type = Class.forName(CLASS, true, loader);
    instance = type.getMethod("getInstance").invoke(null);
    execute = type.getMethod("execute", String.class);
  }

  /** Runs a command, written as the options of async-profiler's agent are. */
  void execute(String command) throws Exception {
    execute.invoke(instance, command);
  }
}
