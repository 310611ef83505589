package observatory.spark;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Ids of traces and spans, in hex. They are hashes, so that executors know the id of their stage's
 * span unasked, and a second export repeats no span. platform.SpanID and TraceID are the same in Go.
 */
final class Ids {
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private Ids() {}

  /** attempt is YARN's number of the application's attempt, "" if there is none. */
  static String trace(String application, String attempt) {
    return hex(hash("trace|" + application + "|" + attempt), 16);
  }

  static String stepTrace(String step) {
    return hex(hash("trace|" + step), 16);
  }

  static String stepSpan(String step) {
    return hex(hash(step + "|step|0"), 8);
  }

  static String span(String application, String attempt, String kind, String number) {
    return hex(hash(application + "|" + attempt + "|" + kind + "|" + number), 8);
  }

  private static byte[] hash(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static String hex(byte[] bytes, int count) {
    char[] out = new char[2 * count];
    for (int i = 0; i < count; i++) {
      out[2 * i] = HEX[bytes[i] >> 4 & 15];
      out[2 * i + 1] = HEX[bytes[i] & 15];
    }
    return new String(out);
  }
}
