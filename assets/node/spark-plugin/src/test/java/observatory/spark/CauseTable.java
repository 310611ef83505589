package observatory.spark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Prints what Causes makes of each failure in a file; NUL is between them. */
public final class CauseTable {
  private CauseTable() {}

  public static void main(String[] args) throws IOException {
    String text = new String(Files.readAllBytes(Paths.get(args[0])), StandardCharsets.UTF_8);
    StringBuilder out = new StringBuilder();
    for (String failure : text.split("\0")) {
      out.append(out.length() == 0 ? "" : "\0").append(Causes.first(failure));
    }
    System.out.print(out);
  }
}
