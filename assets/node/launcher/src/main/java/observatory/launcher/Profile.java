package observatory.launcher;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** What was recorded in one interval, as the request that Pyroscope's /ingest takes for JFR. */
final class Profile {
  private static final String BOUNDARY = "observatory-profile";
  private static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

  /** A busy server takes seconds, and what it took after all is not to be sent twice. */
  private static final int ANSWER_MILLIS = 10_000;

  private final String url;
  private final byte[] body;

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
    GZIPOutputStream gzip = new GZIPOutputStream(out);
    gzip.write(recording);
    gzip.finish();
    out.write(("\r\n--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
    body = out.toByteArray();
  }

  int size() {
    return body.length;
  }

  void send() throws IOException {
    Http.post(url, CONTENT_TYPE, body, ANSWER_MILLIS);
  }
}
