package observatory.spark;

/** Prints ids and what they are hashes of; "-" stands for nothing. */
public final class IdTable {
  private IdTable() {}

  public static void main(String[] args) {
    String[][] applications = {{"application_1700000000000_0042", ""}, {"application_1700000000000_0042", "2"}, {"local-1", ""}};
    String[][] spans = {
      {"application", "0"}, {"sql", "7"}, {"job", "3"}, {"stage", "12.1"}, {"task", "99"}, {"phase", "io_write.1700000000123"},
      {"batch", "0e4f9d2c-0000-0000-0000-000000000000.17"}
    };
    for (String[] a : applications) {
      String attempt = a[1].isEmpty() ? "-" : a[1];
      System.out.println("trace " + a[0] + " " + attempt + " " + Ids.trace(a[0], a[1]));
      for (String[] s : spans) {
        System.out.println("span " + a[0] + " " + attempt + " " + s[0] + " " + s[1] + " " + Ids.span(a[0], a[1], s[0], s[1]));
      }
    }
    System.out.println("step s-ABC123 " + Ids.stepTrace("s-ABC123") + " " + Ids.stepSpan("s-ABC123"));
  }
}
