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

  /** Pyroscope takes no larger one, and the application's heap has no room for it. */
  private static final long RECORDING_BYTES = 32 << 20;

  private static final long EXIT_MILLIS = 2000;

  private final ProfilerSettings settings;
  private final AsyncProfiler recorder;
  private final File file;
  private final Deque<Profile> unsent = new ArrayDeque<Profile>();
  private final Thread thread = new Thread(this, "observatory-profiler");
  private boolean allocations = true;
  private long begun;
  private boolean ending;
  private int lost;
  private boolean failed;

  /** Begins to record. */
  static void start(ProfilerSettings settings) throws Exception {
    if (settings.enabled) {
      new Profiler(settings).start();
    }
  }

  private Profiler(ProfilerSettings settings) throws Exception {
    this.settings = settings;
    recorder = new AsyncProfiler(new File(Platform.PROFILER_JAR));
    // In a container's folder of its own, readable to its user: a recording knows the program.
    file = Files.createTempFile("observatory", ".jfr").toFile();
  }

  private void start() throws Exception {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread("observatory-profiler-exit") {
        @Override
        public void run() {
          end();
        }
      });
    } catch (IllegalStateException e) {
      file.delete();
      return; // the JVM ends already
    }
    try {
      recordFirst();
    } catch (Exception e) {
      file.delete();
      throw e;
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** A JVM without the symbols that allocations need still has CPU time to tell of. */
  private void recordFirst() throws Exception {
    try {
      record();
    } catch (Exception e) {
      allocations = false;
      record();
      Notice.say("allocations not profiled", e);
    }
  }

  private void record() throws Exception {
    begun = System.currentTimeMillis();
    recorder.execute(settings.start(file.getPath(), allocations));
  }

  @Override
  public void run() {
    boolean last = false;
    while (!last) {
      last = await();
      try {
        collect(last);
      } catch (Throwable t) {
        failed(t);
      }
      try {
        send(last);
      } catch (Throwable t) {
        failed(t);
      }
    }
    lost += unsent.size();
    if (lost > 1) {
      Notice.say(lost + " profiles not sent");
    }
  }

  /** Ends a recording and begins the next one, also where this one failed: a full disk may have room again. */
  private void collect(boolean last) throws Exception {
    long from = begun;
    long until;
    byte[] recording;
    try {
      recorder.execute(settings.stop());
      until = System.currentTimeMillis();
      if (file.length() > RECORDING_BYTES) {
        throw new IOException("a recording of " + file.length() + " bytes is too large");
      }
      recording = Files.readAllBytes(file.toPath());
    } catch (Exception e) {
      lost++;
      throw e;
    } finally {
      if (last) {
        file.delete();
      } else {
        record();
      }
    }
    unsent.add(new Profile(settings, from, until, recording));
    int kept = 0;
    for (Profile p : unsent) {
      kept += p.size();
    }
    for (; kept > KEPT_BYTES; lost++) {
      kept -= unsent.remove().size();
    }
  }

  /** Sends the oldest first, and for no longer than an interval: a recording must not grow meanwhile. */
  private void send(boolean last) throws IOException {
    while (!unsent.isEmpty() && (last || System.currentTimeMillis() - begun < Platform.EXPORT_MILLIS)) {
      try {
        unsent.element().send();
      } catch (Http.Refused e) {
        lost++;
        failed(e);
      } catch (Http.Unanswered e) { // sent twice it would count twice
        lost++;
        unsent.remove();
        throw e;
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
