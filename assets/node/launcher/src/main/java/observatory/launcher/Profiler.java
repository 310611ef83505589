package observatory.launcher;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Records with async-profiler and sends what was recorded to Pyroscope, from one daemon thread. What
 * cannot be sent is kept for later, up to a bound; what is left goes out as the JVM ends.
 */
final class Profiler implements Runnable {
  /** Minutes of profiles: a recording of ten seconds has some 50 KB. */
  private static final int KEPT_BYTES = 4 << 20;

  private static final long EXIT_MILLIS = 2000;

  private final ProfilerSettings settings;
  private final AsyncProfiler recorder;
  private final File file;
  private final Deque<Profile> unsent = new ArrayDeque<Profile>();
  private final Thread thread = new Thread(this, "observatory-profiler");
  private long begun;
  private boolean ending;
  private long dropped;
  private boolean failed;

  /** Begins to record; nobody profiles where that fails. */
  static void start(ProfilerSettings settings) throws Exception {
    if (!settings.enabled) {
      return;
    }
    final Profiler profiler = new Profiler(settings);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread("observatory-profiler-exit") {
        @Override
        public void run() {
          profiler.end();
        }
      });
    } catch (IllegalStateException e) {
      return; // the JVM ends already
    }
    profiler.record();
    profiler.thread.setDaemon(true);
    profiler.thread.start();
  }

  private Profiler(ProfilerSettings settings) throws Exception {
    this.settings = settings;
    recorder = new AsyncProfiler(new File(Platform.PROFILER_JAR));
    file = File.createTempFile("observatory", ".jfr"); // a container's folder of its own
  }

  @Override
  public void run() {
    boolean last = false;
    while (!last) {
      last = await();
      try {
        collect(last);
        send();
      } catch (Throwable t) {
        failed(t);
      }
    }
    file.delete();
    if (dropped > 0) {
      Notice.say("profiles dropped", new IOException(dropped + " of ten seconds each, nobody took them"));
    }
  }

  private void record() throws Exception {
    begun = System.currentTimeMillis();
    recorder.execute(settings.start(file.getPath()));
  }

  /** Ends a recording and begins the next one, also where this one failed: a full disk may have room again. */
  private void collect(boolean last) throws Exception {
    long from = begun;
    byte[] recording;
    try {
      recorder.execute("stop");
      recording = Files.readAllBytes(file.toPath());
    } finally {
      if (!last) {
        record();
      }
    }
    Profile profile = new Profile(settings, from, System.currentTimeMillis(), recording);
    unsent.add(profile);
    int kept = 0;
    for (Profile p : unsent) {
      kept += p.size();
    }
    for (; kept > KEPT_BYTES; dropped++) {
      kept -= unsent.remove().size();
    }
  }

  private void send() throws IOException {
    while (!unsent.isEmpty()) {
      try {
        unsent.element().send();
      } catch (Http.Refused e) {
        failed(e);
      }
      unsent.remove();
    }
  }

  /** Waits for the end of an interval; true if the JVM ends. */
  private synchronized boolean await() {
    long until = System.nanoTime() + Platform.EXPORT_MILLIS * 1_000_000L;
    try {
      for (long left = until - System.nanoTime(); !ending && left > 0; left = until - System.nanoTime()) {
        wait(left / 1_000_000L + 1);
      }
    } catch (InterruptedException e) {
      return true;
    }
    return ending;
  }

  private void end() {
    synchronized (this) {
      ending = true;
      notifyAll();
    }
    try {
      thread.join(EXIT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Says it once: a server that is down for an hour is one line, not hundreds. */
  private void failed(Throwable t) {
    if (!failed) {
      failed = true;
      Notice.say("profile not sent", t);
    }
  }
}
