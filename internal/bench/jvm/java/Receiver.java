import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.InetSocketAddress;

/** Accepts every request on the given ports, and prints its path. */
public class Receiver {
  public static void main(String[] ports) throws Exception {
    for (String port : ports) {
      HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(port)), 0);
      server.createContext("/", exchange -> {
        InputStream body = exchange.getRequestBody();
        byte[] part = new byte[8192];
        while (body.read(part) >= 0) {}
        System.out.println(exchange.getRequestURI().getPath());
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
      });
      server.start();
    }
    System.out.println("ready");
  }
}
