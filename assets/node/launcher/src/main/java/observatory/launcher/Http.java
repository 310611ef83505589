package observatory.launcher;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URL;

/** Posts to the platform's servers. Neither the application's proxies nor its handlers of URLs have a say. */
final class Http {
  private static final int CONNECT_MILLIS = 500;

  private Http() {}

  /** What the server refuses for good: the same again would be refused again. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1;

    Refused(String what) {
      super(what);
    }
  }

  /** Refused if the server does not want it; any other IOException if it is to be sent again later. */
  static void post(String url, String contentType, byte[] body, int answerMillis) throws IOException {
    URL target = new URL(url);
    HttpURLConnection c = (HttpURLConnection) target.openConnection(Proxy.NO_PROXY);
    c.setConnectTimeout(CONNECT_MILLIS);
    c.setReadTimeout(answerMillis);
    c.setRequestMethod("POST");
    c.setRequestProperty("Content-Type", contentType);
    c.setDoOutput(true);
    c.setFixedLengthStreamingMode(body.length);
    OutputStream out = c.getOutputStream();
    out.write(body);
    out.close();
    int status = c.getResponseCode();
    InputStream answer = status < 400 ? c.getInputStream() : c.getErrorStream();
    if (answer != null) {
      // A connection is used again only when its answer was read to the end.
      byte[] rest = new byte[256];
      while (answer.read(rest) >= 0) {}
      answer.close();
    }
    String what = target.getPath() + " answered " + status;
    if (status >= 500 || status == 429) {
      throw new IOException(what);
    }
    if (status >= 400) {
      throw new Refused(what);
    }
  }
}
