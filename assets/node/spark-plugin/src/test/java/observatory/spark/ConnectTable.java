package observatory.spark;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Properties;

/** Prints what the tags of jobs say: a job a line, its tags and its operation's property separated by a tab. */
public final class ConnectTable {
  private ConnectTable() {}

  public static void main(String[] args) throws Exception {
    for (String line : Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8)) {
      int tab = line.indexOf('\t');
      Properties properties = new Properties();
      properties.setProperty(ConnectTags.PROPERTY, line.substring(0, tab));
      properties.setProperty(Platform.CONNECT_OPERATION, line.substring(tab + 1));
      ConnectTags tags = ConnectTags.of(properties);
      System.out.println(tags.number() + " " + tags.parent);
    }
  }
}
