package observatory.launcher;

import java.lang.instrument.Instrumentation;

/** Finds classes that the application has loaded. Loading one here could initialize it too early. */
final class LoadedClasses {
  private final Instrumentation instrumentation;

  LoadedClasses(Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
  }

  /** Returns the class of that name, or null if it has not been loaded. */
  Class<?> find(String name) {
    Class<?>[] loaded = instrumentation.getAllLoadedClasses();
    if (loaded == null) { // JVMTI does not answer once the JVM ends
      return null;
    }
    for (Class<?> c : loaded) {
      if (c.getName().equals(name)) {
        return c;
      }
    }
    return null;
  }
}
