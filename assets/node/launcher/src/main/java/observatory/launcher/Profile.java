package observatory.launcher;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** What was recorded in one interval, as the request that Pyroscope's /ingest takes for JFR. */
final class Profile {
  /** A busy server takes seconds. */
  private static final int ANSWER_MILLIS = 10_000;

  /** Of one profile, where the server's answer does not tell whether it will ever take it. */
  private static final int ATTEMPTS = 8;

  private static final int UNPROCESSABLE = 422;
  private static final String BOUNDARY = "observatory-profile";
  private static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

  private final String url;
  private final byte[] body;
  private int attempts;

  /** Compresses the recording: most of it is the names of methods. Times are milliseconds. */
  Profile(ProfilerSettings settings, long from, long until, byte[] recording) throws IOException {
    url =
        settings.server + "/ingest?format=jfr&spyName=javaspy&units=samples&aggregationType=sum"
            + "&sampleRate=" + ProfilerSettings.SAMPLE_RATE + "&from=" + from + "&until=" + until
            + "&name=" + URLEncoder.encode(settings.name, "UTF-8");
    ByteArrayOutputStream out = new ByteArrayOutputStream(recording.length / 4);
    out.write(
        ("--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"jfr\"; filename=\"jfr\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    // Closed, not only finished: its memory is the process's, which no garbage collection gives back.
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(recording);
    }
    out.write(("\r\n--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
    body = out.toByteArray();
  }

  int size() {
    return body.length;
  }

  /**
   * Refused and Unanswered are final. Pyroscope says 422 to what it cannot read and also to what it
   * cannot take now (a ring that is not ready, a deadline): that is tried again some times.
   */
  void send() throws IOException {
    try {
      Http.post(url, CONTENT_TYPE, body, ANSWER_MILLIS);
    } catch (Http.Refused e) {
      boolean perhaps = e.status == UNPROCESSABLE || e.status == HttpURLConnection.HTTP_CLIENT_TIMEOUT;
      if (perhaps && ++attempts < ATTEMPTS) {
        throw new IOException(e.getMessage(), e);
      }
      throw e;
    }
  }
}
