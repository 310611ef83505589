package observatory.launcher;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends the JVM's metrics and log records to the node's collector, from one daemon thread. Nothing
 * is sent before the application is known, and then only when there is something; what is left goes
 * out as the JVM ends.
 */
final class Telemetry implements Runnable {
  static final String THREAD = "observatory-telemetry";

  private static final long LOG_MILLIS = 1000;
  private static final int ANSWER_MILLIS = 1000;
  private static final long EXIT_MILLIS = 2000;

  /** Spark's logging starts within seconds; later it is looked for less often. */
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
  private boolean failed;

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
      return; // the JVM ends already
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** Says whose signals these are; null if that is not to be found out. */
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
        failed(t);
      }
    }
    try {
      sendLogs();
      sendMetrics();
      sendLogs();
    } catch (Throwable t) {
      failed(t);
    }
  }

  /** Attaches to the loggers once they are there, and again when their configuration was read anew. */
  private void captureLogs() {
    if (capture == null) {
      watches++;
      if (classes.find(LogCapture.SIGN_OF_LOG4J) == null) {
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
        failed(e);
      }
    }
    post("/v1/metrics", metrics.finish());
  }

  /** Fails where nobody answers; what a collector refuses for good is not to be sent again. */
  private void post(String path, String json) throws IOException {
    try {
      byte[] body = json.getBytes(StandardCharsets.UTF_8);
      Http.post(Platform.OTLP_ENDPOINT + path, "application/json", body, ANSWER_MILLIS);
    } catch (Http.Refused e) {
      failed(e);
    }
  }

  /** Says it once: a collector that is down for an hour is one line, not hundreds. */
  private void failed(Throwable t) {
    if (!failed) {
      failed = true;
      Notice.say("telemetry not sent", t);
    }
  }
}
