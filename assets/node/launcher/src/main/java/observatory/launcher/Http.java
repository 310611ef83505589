package observatory.launcher;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Sends POST requests to the platform's servers, bypassing any proxy that the application configures.
 * It uses sockets: a tracing agent that the job brings along instruments HttpURLConnection, and would
 * add a span for each of our requests to the job's own traces.
 */
final class Http {
  private static final int CONNECT_MILLIS = 500;
  private static final int STATUS_LINE_LENGTH = 256;

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
   * Sends one request, over a connection of its own.
   *
   * @throws IOException any type other than Refused and Unanswered is retryable
   */
  static void post(String url, String contentType, byte[] body, int answerMillis) throws IOException {
    URL target = new URL(url);
    String path = target.getPath();
    Socket socket = new Socket(Proxy.NO_PROXY);
    try {
      int port = target.getPort() < 0 ? target.getDefaultPort() : target.getPort();
      socket.connect(new InetSocketAddress(target.getHost(), port), CONNECT_MILLIS);
      socket.setSoTimeout(answerMillis);
      if ("https".equals(target.getProtocol())) {
        socket = encrypted(socket, target.getHost(), port);
      }
      String head =
          "POST " + (target.getFile().startsWith("/") ? "" : "/") + target.getFile() + " HTTP/1.1\r\nHost: "
              + target.getAuthority() + "\r\nConnection: close\r\nContent-Type: " + contentType + "\r\nContent-Length: "
              + body.length + "\r\n\r\n";
      OutputStream out = socket.getOutputStream();
      out.write(head.getBytes(StandardCharsets.ISO_8859_1));
      out.write(body);
      out.flush();
      int status = status(new BufferedInputStream(socket.getInputStream()), path);
      if (status >= 500 || status == 429) {
        throw new IOException(path + " answered " + status);
      }
      if (status >= 300) {
        throw new Refused(path, status);
      }
    } finally {
      socket.close();
    }
  }

  /** A server of the user's may be elsewhere, behind TLS; its certificate must be of its host. */
  private static Socket encrypted(Socket plain, String host, int port) throws IOException {
    SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
    SSLSocket socket = (SSLSocket) factory.createSocket(plain, host, port, true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    socket.setSSLParameters(parameters);
    return socket;
  }

  private static int status(InputStream answer, String path) throws IOException {
    StringBuilder line = new StringBuilder();
    try {
      for (int c = answer.read(); c != '\n'; c = answer.read()) {
        if (c < 0 || line.length() > STATUS_LINE_LENGTH) {
          throw new EOFException(path + " did not answer in HTTP");
        }
        line.append((char) c);
      }
      return Integer.parseInt(line.toString().trim().split(" ")[1]);
    } catch (SocketTimeoutException e) {
      throw new Unanswered(path, e);
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw new IOException(path + " did not answer in HTTP", e);
    }
  }
}
