package observatory.launcher;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URL;

/** Sends POST requests to the platform's servers, bypassing any proxy that the application configures. */
final class Http {
  private static final int CONNECT_MILLIS = 500;

  private Http() {}

  /** The server rejected the request for good; do not retry. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1;

    final int status;

    Refused(String path, int status) {
      super(path + " answered " + status);
      this.status = status;
    }
  }

  /** The request was sent but no response arrived in time; the server may have processed it. */
  static final class Unanswered extends IOException {
    private static final long serialVersionUID = 1;

    Unanswered(String path, SocketTimeoutException cause) {
      super(path + " did not answer", cause);
    }
  }

  /**
   * Sends one request.
   *
   * @throws IOException any type other than Refused and Unanswered is retryable
   */
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
      // Drain the response: HttpURLConnection reuses a connection only after the body is fully read.
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
    } catch (HttpRetryException e) { // streaming mode cannot replay the body after a 401
      throw new Refused(path, e.responseCode());
    } catch (SocketTimeoutException e) {
      throw new Unanswered(path, e);
    }
  }
}
