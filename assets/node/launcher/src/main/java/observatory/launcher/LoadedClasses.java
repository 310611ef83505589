package observatory.launcher;

import java.lang.instrument.Instrumentation;

/** Finds classes that the application has loaded; loading one from here could run it too early. */
final class LoadedClasses {
  private final Instrumentation instrumentation;

  LoadedClasses(Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
  }

  /** The class of that name, or null for as long as there is none. */
  Class<?> find(String name) {
    for (Class<?> c : instrumentation.getAllLoadedClasses()) {
      if (c.getName().equals(name)) {
        return c;
      }
    }
    return null;
  }
}
