package observatory.launcher;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URL;

/** Posts to the platform's servers. The application's proxies have no say. */
final class Http {
  private static final int CONNECT_MILLIS = 500;

  private Http() {}

  /** What the server does not take: the same again would be refused again. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1;

    final int status;

    Refused(String path, int status) {
      super(path + " answered " + status);
      this.status = status;
    }
  }

  /** All was sent, and no answer came in time: the server may have taken it. */
  static final class Unanswered extends IOException {
    private static final long serialVersionUID = 1;

    Unanswered(String path, SocketTimeoutException cause) {
      super(path + " did not answer", cause);
    }
  }

  /** Any IOException but the two above is worth sending the same again later. */
  static void post(String url, String contentType, byte[] body, int answerMillis) throws IOException {
    URL target = new URL(url);
    HttpURLConnection c = (HttpURLConnection) target.openConnection(Proxy.NO_PROXY);
    c.setConnectTimeout(CONNECT_MILLIS);
    c.setReadTimeout(answerMillis);
    c.setInstanceFollowRedirects(false);
    c.setRequestMethod("POST");
    c.setRequestProperty("Content-Type", contentType);
    c.setDoOutput(true);
    c.setFixedLengthStreamingMode(body.length);
    OutputStream out = c.getOutputStream();
    out.write(body);
    out.close();
    int status = status(c, target.getPath());
    InputStream answer = status < 400 ? c.getInputStream() : c.getErrorStream();
    if (answer != null) {
      // A connection is used again only when its answer was read to the end.
      byte[] rest = new byte[256];
      while (answer.read(rest) >= 0) {}
      answer.close();
    }
    if (status >= 500 || status == 429) {
      throw new IOException(target.getPath() + " answered " + status);
    }
    if (status >= 300) {
      throw new Refused(target.getPath(), status);
    }
  }

  private static int status(HttpURLConnection c, String path) throws IOException {
    try {
      return c.getResponseCode();
    } catch (HttpRetryException e) { // a 401 to a body that is not kept
      throw new Refused(path, e.responseCode());
    } catch (SocketTimeoutException e) {
      throw new Unanswered(path, e);
    }
  }
}
