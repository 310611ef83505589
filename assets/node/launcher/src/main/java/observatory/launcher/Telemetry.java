package observatory.launcher;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends the JVM's metrics and log records to the node's collector, from one daemon thread. It starts
 * sending once the application id is settled. As the JVM exits, a shutdown hook waits a
 * short time for the remainder to be sent.
 */
final class Telemetry implements Runnable {
  static final String THREAD = "observatory-telemetry";

  private static final long LOG_MILLIS = 1000;
  private static final int ANSWER_MILLIS = 1000;
  private static final long EXIT_MILLIS = 2000;

  /** Spark initializes log4j within seconds; after WATCHES attempts it is looked for less often. */
  private static final long WATCH_MILLIS = 200;

  private static final int WATCHES = 150;

  private final SparkProcess process;
  private final LoadedClasses classes;
  private final LogBuffer logs = new LogBuffer();
  private final long started = ManagementFactory.getRuntimeMXBean().getStartTime();
  private final Otlp.Source[] sources;
  private final Thread thread = new Thread(this, THREAD);
  private volatile String applicationId;
  private volatile boolean identified;
  private volatile boolean ending;
  private Runnable capture;
  private int watches;
  private boolean reported;

  Telemetry(SparkProcess process, LoadedClasses classes) {
    this.process = process;
    this.classes = classes;
    sources = new Otlp.Source[] {new JvmMetrics(), new GarbageCollections(), new S3aMetrics()};
  }

  void start() {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread("observatory-exit") {
        @Override
        public void run() {
          end();
        }
      });
    } catch (IllegalStateException e) {
      return; // the JVM is already shutting down
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** Sets the application id of all signals; null if it could not be determined. */
  void identify(String id) {
    applicationId = id;
    identified = true;
  }

  private void end() {
    ending = true;
    logs.wake();
    try {
      thread.join(EXIT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    long exported = System.nanoTime();
    while (!ending) {
      try {
        logs.await(capture == null && watches < WATCHES ? WATCH_MILLIS : LOG_MILLIS);
        captureLogs();
        if (identified && !ending) {
          sendLogs();
          if (System.nanoTime() - exported >= Platform.EXPORT_MILLIS * 1_000_000L) {
            exported = System.nanoTime();
            sendMetrics();
          }
        }
      } catch (Throwable t) {
        reportOnce(t);
      }
    }
    try {
      sendLogs();
      sendMetrics();
      sendLogs();
    } catch (Throwable t) {
      reportOnce(t);
    }
  }

  /** Attaches to log4j once it is initialized, and again after a configuration reload. */
  private void captureLogs() {
    if (capture == null) {
      watches++;
      if (classes.find(LogCapture.LOG4J_INITIALIZED) == null) {
        return;
      }
      capture = new LogCapture(logs);
    }
    capture.run();
  }

  private Map<String, String> resource() {
    Map<String, String> resource = new LinkedHashMap<String, String>();
    resource.put(Platform.LABEL_SERVICE, process.service);
    if (applicationId != null) {
      resource.put(Platform.LABEL_APP_ID, applicationId);
    }
    if (process.executorId != null) {
      resource.put(Platform.LABEL_EXECUTOR_ID, process.executorId);
    }
    return resource;
  }

  private void sendLogs() throws IOException {
    for (List<LogRecord> batch = logs.batch(); !batch.isEmpty(); batch = logs.batch()) {
      post("/v1/logs", Otlp.logs(resource(), batch));
      logs.remove(batch);
    }
  }

  private void sendMetrics() throws IOException {
    Otlp.Metrics metrics = new Otlp.Metrics(resource(), started, System.currentTimeMillis());
    for (Otlp.Source source : sources) {
      try {
        metrics.add(source);
      } catch (Exception e) {
        reportOnce(e);
      }
    }
    post("/v1/metrics", metrics.finish());
  }

  /** Throws if the request can be retried; a permanently rejected request is reported and dropped. */
  private void post(String path, String json) throws IOException {
    try {
      byte[] body = json.getBytes(StandardCharsets.UTF_8);
      Http.post(Platform.OTLP_ENDPOINT + path, "application/json", body, ANSWER_MILLIS);
    } catch (Http.Refused e) {
      reportOnce(e);
    }
  }

  /** Logs only the first failure, so an hour-long outage is one line. */
  private void reportOnce(Throwable t) {
    if (!reported) {
      reported = true;
      Notice.say("telemetry not sent", t);
    }
  }
}
