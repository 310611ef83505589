package observatory.launcher;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** The recording of one interval, as a JFR request to Pyroscope's /ingest. */
final class Profile {
  /** A busy server takes seconds. */
  private static final int ANSWER_MILLIS = 10_000;

  /** Maximum attempts for a profile whose status code (422, 408) may be temporary. */
  private static final int ATTEMPTS = 8;

  private static final int UNPROCESSABLE = 422;
  private static final String BOUNDARY = "observatory-profile";
  private static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

  private final ProfilerSettings settings;
  private final String interval;
  private final byte[] body;
  private String url;
  private int attempts;

  /** Compresses the recording, most of which is method names. Times are in milliseconds. */
  Profile(ProfilerSettings settings, long from, long until, byte[] recording) throws IOException {
    this.settings = settings;
    interval = "&from=" + from + "&until=" + until;
    label(false);
    ByteArrayOutputStream out = new ByteArrayOutputStream(recording.length / 4);
    out.write(
        ("--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"jfr\"; filename=\"jfr\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    // close(), not just finish(): the Deflater holds native memory that the GC does not reclaim promptly.
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(recording);
    }
    out.write(("\r\n--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
    body = out.toByteArray();
  }

  /** Says whether the profile has its labels. It waits for the id of a context that is starting. */
  boolean label(boolean last) throws IOException {
    Signals.Identity identity = Signals.identity();
    if (url == null && (identity.settled || last)) {
      url =
          settings.server + "/ingest?format=jfr&spyName=javaspy&units=samples&aggregationType=sum"
              + "&sampleRate=" + ProfilerSettings.SAMPLE_RATE + interval
              + "&name=" + URLEncoder.encode(settings.name(identity.applicationId), "UTF-8");
    }
    return url != null;
  }

  int size() {
    return body.length;
  }

  /**
   * Throws Refused or Unanswered if the profile must not be sent again. Pyroscope returns 422 both
   * for malformed profiles and for temporary conditions (ring not ready, deadline), so 422 is retried
   * up to ATTEMPTS times.
   */
  void send() throws IOException {
    try {
      Http.post(url, CONTENT_TYPE, body, ANSWER_MILLIS);
    } catch (Http.Refused e) {
      boolean temporary = e.status == UNPROCESSABLE || e.status == HttpURLConnection.HTTP_CLIENT_TIMEOUT;
      if (temporary && ++attempts < ATTEMPTS) {
        throw new IOException(e.getMessage(), e);
      }
      throw e;
    }
  }
}
