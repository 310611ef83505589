package observatory.spark;

import java.util.Collections;
import java.util.Map;
import observatory.launcher.Signals;
import observatory.launcher.Span;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.scheduler.SparkListenerInterface;
import scala.Option;

/**
 * The plugin's half in a driver, one for each context. Spark creates it before the scheduler, shows
 * it the application id when the context is complete, and shuts it down after the last event.
 */
public final class DriverHalf implements DriverPlugin, AutoCloseable {
  private static final long FLUSH_MILLIS = 1000;
  private static final EndedSources ENDED = new EndedSources();

  private final Faults faults = new Faults();
  private final SpanBudget budget = new SpanBudget();
  private SparkContext context;
  private boolean ending;
  private Recorder recorder;
  private AppListener listener;
  private DriverMetrics metrics;

  @Override
  public Map<String, String> init(SparkContext started, PluginContext plugin) {
    context = started;
    Settings settings = Settings.ofDriver(plugin.conf());
    PhaseEngine engine = new PhaseEngine();
    engine.configure(new Deployment(plugin.conf(), System.getProperty("sun.java.command")));
    engine.applicationStart(context.startTime());
    Tracer tracer =
        new Tracer(
            settings,
            budget,
            new Tracer.Sink() {
              @Override
              public boolean span(Span span) {
                return Signals.span(span);
              }
            });
    recorder = new Recorder(settings, engine, tracer);
    listener = new AppListener(recorder, faults);
    attach();
    if (settings.tracing) {
      ConnectCalls.attach(context);
      ConnectInterceptor.install(plugin.conf(), Platform.CONNECT_JAR, faults);
    }
    metrics = new DriverMetrics(settings, recorder, budget, new SparkInternals(context), context.version());
    Signals.add(metrics);
    TraceParent parent = settings.parent;
    return parent == null ? Collections.<String, String>emptyMap() : Collections.singletonMap(ExecutorHalf.PARENT, parent.toString());
  }

  /** A queue of its own: in the shared one another's slow listener would lose our events. */
  private void attach() {
    try {
      Object bus = SparkContext.class.getMethod("listenerBus").invoke(context);
      bus.getClass()
          .getMethod("addToQueue", SparkListenerInterface.class, String.class)
          .invoke(bus, listener, SparkInternals.QUEUE);
    } catch (ReflectiveOperationException | LinkageError e) {
      faults.say("events come by the shared queue", e);
      context.addSparkListener(listener);
    }
  }

  @Override
  public void registerMetrics(String applicationId, PluginContext plugin) {
    Option<String> attempt = context.applicationAttemptId();
    recorder.identify(applicationId, attempt.isEmpty() ? null : attempt.get(), context.appName());
    metrics.identify(applicationId);
  }

  @Override
  public Object receive(Object message) {
    return answer(budget, String.valueOf(message));
  }

  /**
   * Answers an executor that names a trace and itself, how many spans it has dropped since its start, how many
   * more are wanted, and how many of these for failed tasks.
   */
  static Object answer(SpanBudget budget, String message) {
    String[] request = message.split(" ");
    budget.droppedBy(request[1], Settings.number(request[2]));
    return budget.grant(request[0], (int) Settings.number(request[3]), (int) Settings.number(request[4]));
  }

  @Override
  public void shutdown() {
    ending = true;
    try {
      Events.probe(faults); // the first event, which has it said at the start, may have been lost
      metrics.end();
      recorder.end(System.currentTimeMillis(), metrics.lost());
    } finally {
      ConnectCalls.attach(null);
      context = null;
      // SparkSubmit sets it once for the JVM: a later context would count this one's life as its own.
      System.clearProperty("spark.app.submitTime");
      Signals.flush(FLUSH_MILLIS);
      ENDED.add(metrics);
    }
  }

  /**
   * Undoes what init has registered: this half failed, and is not called again. The metrics of an
   * application that has ended stay, for the exit hook to send.
   */
  @Override
  public void close() {
    if (metrics != null && !ending) {
      Signals.remove(metrics);
    }
    Signals.traceApplication(null, null);
    ConnectCalls.attach(null);
    SparkContext running = context;
    if (running != null && listener != null) {
      running.removeSparkListener(listener);
    }
  }
}
