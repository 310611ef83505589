package observatory.launcher;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Bounded queue of spans. Spans that do not fit are dropped and counted; nobody waits for room. */
final class SpanBuffer {
  private static final int MAX_BYTES = 8 << 20;
  private static final int BATCH = 512;

  private final ArrayDeque<Span> spans = new ArrayDeque<Span>();
  private int bytes;
  private long dropped;
  private long refused;
  private boolean closed;

  synchronized boolean add(Span span) {
    if (closed || bytes + span.size() > MAX_BYTES) {
      dropped++;
      return false;
    }
    bytes += span.size();
    spans.add(span);
    return true;
  }

  /** Says whether the newest span completed the first batch: later ones do not wake the sender again. */
  synchronized boolean endsBatch() {
    return spans.size() == BATCH;
  }

  synchronized long dropped() {
    return dropped;
  }

  /** Counts spans that the collector will never accept. */
  synchronized void refuse(int count) {
    refused += count;
  }

  synchronized long refused() {
    return refused;
  }

  /** Returns the oldest spans of one application, which stay in the queue until removed. */
  synchronized List<Span> batch() {
    List<Span> batch = new ArrayList<Span>(Math.min(BATCH, spans.size()));
    for (Span span : spans) {
      if (batch.size() == BATCH || !span.applicationId.equals(spans.peek().applicationId)) {
        break;
      }
      batch.add(span);
    }
    return batch;
  }

  /** Removes the spans that batch() returned last. */
  synchronized void remove(List<Span> batch) {
    for (int i = 0; i < batch.size() && !closed; i++) {
      bytes -= spans.remove().size();
    }
  }

  synchronized void close() {
    closed = true;
    spans.clear();
    bytes = 0;
  }
}
