package observatory.spark;

import java.util.Collections;
import java.util.Map;
import observatory.launcher.Signals;
import observatory.launcher.Span;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.scheduler.SparkListenerInterface;

/**
 * The plugin's half in a driver, one for each context. Spark creates it before the scheduler, shows
 * it the application id when the context is complete, and shuts it down after the last event.
 */
public final class DriverHalf implements DriverPlugin {
  private static final String QUEUE = "observatory";
  private static final long FLUSH_MILLIS = 1000;

  private final Faults faults = new Faults();
  private Recorder recorder;
  private DriverMetrics metrics;

  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    Settings settings = new Settings(plugin.conf());
    PhaseEngine engine = new PhaseEngine();
    engine.configure(settings.master, settings.deployMode, settings.submitTime, System.getProperty("sun.java.command"));
    engine.applicationStart(context.startTime());
    Tracer tracer =
        new Tracer(
            settings,
            new SpanBudget(Limits.DRIVER_SPANS),
            new Tracer.Sink() {
              @Override
              public boolean span(Span span) {
                return Signals.span(span);
              }
            });
    recorder = new Recorder(settings, engine, tracer);
    attach(context, new AppListener(recorder, faults));
    metrics = new DriverMetrics(recorder);
    Signals.add(metrics);
    return Collections.emptyMap();
  }

  /** A queue of its own: in the shared one another's slow listener would lose our events. */
  private void attach(SparkContext context, AppListener listener) {
    try {
      Object bus = SparkContext.class.getMethod("listenerBus").invoke(context);
      bus.getClass().getMethod("addToQueue", SparkListenerInterface.class, String.class).invoke(bus, listener, QUEUE);
    } catch (ReflectiveOperationException | LinkageError e) {
      faults.say("events come by the shared queue", e);
      context.addSparkListener(listener);
    }
  }

  @Override
  public void registerMetrics(String applicationId, PluginContext plugin) {
    metrics.identify(applicationId);
  }

  @Override
  public void shutdown() {
    recorder.end(System.currentTimeMillis());
    Signals.flush(FLUSH_MILLIS);
  }
}
