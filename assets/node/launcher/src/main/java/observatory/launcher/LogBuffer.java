package observatory.launcher;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Bounded queue of log records. Application threads never block on a full queue: records that do not
 * fit are dropped, and their count is sent as a record.
 */
final class LogBuffer {
  private static final int MAX_CHARACTERS = 4 << 20; // at most 8 MiB of heap
  private static final int BATCH = 512;

  private final ArrayDeque<LogRecord> records = new ArrayDeque<LogRecord>();
  private int characters;
  private long dropped;
  private long reported; // drops reported by the batch being sent
  private boolean awake;

  synchronized void add(LogRecord record) {
    if (characters + record.size() > MAX_CHARACTERS) {
      dropped++;
      return;
    }
    characters += record.size();
    records.add(record);
    if (records.size() == BATCH) {
      wake();
    }
  }

  /** Returns when a batch is full, when woken, or after the given time. */
  synchronized void await(long millis) throws InterruptedException {
    if (!awake) {
      wait(millis);
    }
    awake = false;
  }

  synchronized void wake() {
    awake = true;
    notifyAll();
  }

  /** Returns the oldest records of one application, which stay in the queue until removed. */
  synchronized List<LogRecord> batch() {
    List<LogRecord> batch = new ArrayList<LogRecord>(Math.min(BATCH, records.size() + 1));
    reported = dropped;
    if (dropped > 0) {
      batch.add(
          new LogRecord(System.currentTimeMillis(), "observatory", "WARN", 13,
              dropped + " log records dropped: buffer full; the collector is slow or unreachable"));
    }
    for (LogRecord record : records) {
      if (batch.size() == BATCH || !Objects.equals(record.applicationId, records.peek().applicationId)) {
        break;
      }
      batch.add(record);
    }
    return batch;
  }

  /** Removes the records that batch() returned last. */
  synchronized void remove(List<LogRecord> batch) {
    for (LogRecord record : batch) {
      if (records.peek() == record) {
        characters -= records.remove().size();
      }
    }
    dropped -= reported;
    reported = 0;
  }
}
