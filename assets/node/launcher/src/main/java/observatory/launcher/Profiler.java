package observatory.launcher;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Records with async-profiler and sends the recordings to Pyroscope, from one daemon thread. Profiles
 * that cannot be sent are kept for a later attempt, up to a bound; the rest is sent as the JVM exits.
 */
final class Profiler implements Runnable {
  /** Bound on unsent profiles: several minutes' worth at about 50 KB per ten-second recording. */
  private static final int KEPT_BYTES = 4 << 20;

  /**
   * Larger recordings are dropped: Pyroscope rejects them, and reading one would strain the
   * application's heap.
   */
  private static final long RECORDING_BYTES = 32 << 20;

  private final ProfilerSettings settings;
  private final AsyncProfiler recorder;
  private final File file;
  private final Deque<Profile> unsent = new ArrayDeque<Profile>();
  private final Thread thread = new Thread(this, "observatory-profiler");
  private boolean allocations = true;
  private long started;
  private boolean ending;
  private int lost;
  private boolean reported;

  /** Starts recording, unless the user has disabled profiling. */
  static void start(ProfilerSettings settings) throws Exception {
    if (settings.enabled) {
      new Profiler(settings).start();
    }
  }

  private Profiler(ProfilerSettings settings) throws Exception {
    this.settings = settings;
    recorder = new AsyncProfiler(new File(Platform.PROFILER_JAR));
    // Owner-readable only (createTempFile), as a recording reveals class and method names. In a
    // YARN container this is the container's own temp directory.
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
      return; // the JVM is already shutting down
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

  /** Allocation profiling needs JVM debug symbols. If it fails, starts with the other events only. */
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
    started = System.currentTimeMillis();
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
        reportOnce(t);
      }
      try {
        send(last);
      } catch (Throwable t) {
        reportOnce(t);
      }
    }
    lost += unsent.size();
    if (lost > 1) {
      Notice.say(lost + " profiles not sent");
    }
  }

  /**
   * Stops the recording and starts the next one, even if reading this one failed (for example, on a
   * full disk).
   */
  private void collect(boolean last) throws Exception {
    long from = started;
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

  /**
   * Sends the oldest profile first. Stops after one interval, because the current recording keeps
   * growing; the last call sends all.
   */
  private void send(boolean last) throws IOException {
    while (!unsent.isEmpty() && (last || System.currentTimeMillis() - started < Platform.EXPORT_MILLIS)) {
      if (!unsent.element().label(last)) {
        return;
      }
      try {
        unsent.element().send();
      } catch (Http.Refused e) {
        lost++;
        reportOnce(e);
      } catch (Http.Unanswered e) { // may have been stored; a resend would count its samples twice
        lost++;
        unsent.remove();
        throw e;
      }
      unsent.remove();
    }
  }

  /** Waits for the end of an interval; returns true if the JVM is shutting down. */
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
      thread.join(Math.max(1, ExitTimeout.MILLIS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Logs only the first failure, so an hour-long outage is one line. */
  private void reportOnce(Throwable t) {
    if (!reported) {
      reported = true;
      Notice.say("profile not sent", t);
    }
  }
}
