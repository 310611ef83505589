package observatory.spark;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URL;
import org.apache.spark.SparkConf;

/**
 * Has Spark Connect's server use the interceptor, which is in a jar of its own: its class needs gRPC's, which
 * Spark Connect brings along, and which may be in a class loader below the launcher's. Spark's server does
 * not start if an interceptor does not load, so it is loaded here first.
 */
final class ConnectInterceptor {
  /** org.apache.spark.sql.connect.config.Connect, in Spark 3.5 and 4.0. */
  private static final String CLASSES = "spark.connect.grpc.interceptor.classes";

  private static final String SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService";
  private static final String INTERCEPTOR = "observatory.connect.CallInterceptor";

  private ConnectInterceptor() {}

  /** Adds it to the configuration of a driver that can serve Spark Connect. jar is a path. */
  static void install(SparkConf conf, String jar, Faults faults) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try {
      Class.forName(SERVICE, false, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      return; // as most drivers: until Spark 4.0 it is not among Spark's own jars
    }
    try {
      append(loader, new File(jar));
      Class.forName(INTERCEPTOR, true, loader).getConstructor().newInstance();
      String others = conf.get(CLASSES, "");
      if (("," + others + ",").contains("," + INTERCEPTOR + ",")) {
        return; // of an earlier context whose configuration this one has
      }
      conf.set(CLASSES, others.isEmpty() ? INTERCEPTOR : others + "," + INTERCEPTOR);
    } catch (ReflectiveOperationException | LinkageError | IOException | RuntimeException e) {
      faults.say("trace contexts in calls of Spark Connect are not read", e);
    }
  }

  /** Spark's own loader for the job's jars (MutableURLClassLoader), or one above, takes another. */
  private static void append(ClassLoader from, File jar) throws ReflectiveOperationException, IOException {
    if (!jar.isFile()) {
      throw new FileNotFoundException(jar.getPath());
    }
    for (ClassLoader loader = from; loader != null; loader = loader.getParent()) {
      try {
        loader.getClass().getMethod("addURL", URL.class).invoke(loader, jar.toURI().toURL());
        return;
      } catch (NoSuchMethodException e) {
        continue;
      }
    }
    throw new NoSuchMethodException("no class loader takes " + jar);
  }
}
