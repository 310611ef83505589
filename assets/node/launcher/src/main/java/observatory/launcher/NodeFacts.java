package observatory.launcher;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Facts about this node, written by the bootstrap action. */
final class NodeFacts {
  private final Properties properties = new Properties();

  static NodeFacts read(String path) throws IOException {
    NodeFacts facts = new NodeFacts();
    InputStream in = new FileInputStream(path);
    try {
      facts.properties.load(in);
    } finally {
      in.close();
    }
    return facts;
  }

  /** Returns the value of a fact, or an empty string. */
  String get(String key) {
    return properties.getProperty(key, "");
  }
}
