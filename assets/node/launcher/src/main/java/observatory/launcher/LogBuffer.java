package observatory.launcher;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Log records on their way out. The application's threads add and never wait; what does not fit is
 * counted, and the count becomes a record of its own.
 */
final class LogBuffer {
  private static final int MAX_CHARACTERS = 4 << 20; // at most 8 MiB of heap
  private static final int BATCH = 512;

  private final ArrayDeque<LogRecord> records = new ArrayDeque<LogRecord>();
  private int characters;
  private long dropped;
  private long reported; // of the dropped, in the batch that is on its way
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

  /** The oldest records, which stay until removed; empty if there are none. */
  synchronized List<LogRecord> batch() {
    List<LogRecord> batch = new ArrayList<LogRecord>(Math.min(BATCH, records.size() + 1));
    reported = dropped;
    if (dropped > 0) {
      batch.add(
          new LogRecord(System.currentTimeMillis(), "observatory", "WARN", 13,
              dropped + " log records were dropped here: they came faster than the collector took them"));
    }
    for (LogRecord record : records) {
      if (batch.size() == BATCH) {
        break;
      }
      batch.add(record);
    }
    return batch;
  }

  /** Removes what batch gave last. */
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
