package observatory.spark;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;
import scala.Option;

/**
 * A method without parameters, found by name. Descriptors of Spark's events differ between Scala
 * versions, and EMR's builds of Spark change them. A method that is missing gives nothing, and is
 * named once in the log; the rest goes on.
 */
final class Accessor {
  private static final Set<String> MISSING = new TreeSet<String>();

  private final Class<?> type;
  private final MethodHandle number;
  private final MethodHandle value;

  private Accessor(Class<?> type, MethodHandle number, MethodHandle value) {
    this.type = type;
    this.number = number;
    this.value = value;
  }

  static Accessor of(String type, String method) {
    try {
      return of(Class.forName(type, false, Accessor.class.getClassLoader()), method);
    } catch (ClassNotFoundException | LinkageError e) {
      missing(type + "." + method);
      return new Accessor(null, null, null);
    }
  }

  static Accessor of(Class<?> type, String method) {
    try {
      Method found = type.getMethod(method);
      found.setAccessible(true); // the class itself may be private
      MethodHandle handle = MethodHandles.lookup().unreflect(found);
      if (found.getReturnType().isPrimitive()) {
        return new Accessor(type, MethodHandles.explicitCastArguments(handle, MethodType.methodType(long.class, Object.class)), null);
      }
      return new Accessor(type, null, handle.asType(MethodType.methodType(Object.class, Object.class)));
    } catch (NoSuchMethodException | IllegalAccessException | RuntimeException | LinkageError e) {
      missing(type.getName() + "." + method);
      return new Accessor(null, null, null);
    }
  }

  /** Of a method that not every Spark has: without it less is known, and nothing is wrong. */
  static Accessor optional(String type, String method) {
    try {
      Class<?> found = Class.forName(type, false, Accessor.class.getClassLoader());
      found.getMethod(method);
      return of(found, method);
    } catch (ReflectiveOperationException | LinkageError e) {
      return new Accessor(null, null, null);
    }
  }

  private static void missing(String what) {
    synchronized (MISSING) {
      MISSING.add(what);
    }
  }

  /** Names of the methods that this Spark lacks, of all accessors so far. */
  static Set<String> missing() {
    synchronized (MISSING) {
      return new TreeSet<String>(MISSING);
    }
  }

  /** Tells whether this Spark has the method. */
  boolean exists() {
    return number != null || value != null;
  }

  /** Tells whether the target is of the class that has the method. */
  boolean isOf(Object target) {
    return type != null && type.isInstance(target);
  }

  /** The number, or 1 for true; 0 if there is no such method or target. */
  long number(Object target) {
    if (number == null || target == null) {
      return 0;
    }
    try {
      return (long) number.invokeExact(target);
    } catch (Throwable t) {
      throw Faults.sneak(t);
    }
  }

  boolean flag(Object target) {
    return number(target) != 0;
  }

  /** The object, or null. What an Option contains counts, not the Option. */
  Object value(Object target) {
    if (value == null || target == null) {
      return null;
    }
    Object found;
    try {
      found = (Object) value.invokeExact(target);
    } catch (Throwable t) {
      throw Faults.sneak(t);
    }
    if (found instanceof Option) {
      Option<?> option = (Option<?>) found;
      return option.isEmpty() ? null : option.get();
    }
    return found;
  }

  /** The object's text, or null. */
  String text(Object target) {
    Object found = value(target);
    return found == null ? null : found.toString();
  }

  /** A number that the method returns as an object or in an Option; 0 if none. */
  long boxed(Object target) {
    Object found = value(target);
    return found instanceof Number ? ((Number) found).longValue() : 0;
  }
}
