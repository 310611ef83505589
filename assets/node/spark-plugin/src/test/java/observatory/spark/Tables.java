package observatory.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Properties;

/** Prints what small functions make of each input: a test in Go knows what they should. */
public final class Tables {
  private static final String T = "0af7651916cd43dd8448eb211c80319c";
  private static final String S = "b7ad6b7169203331";

  private Tables() {}

  public static void main(String[] args) throws IOException {
    for (String text : new String[] {
      "00-" + T + "-" + S + "-01", " 00-" + T + "-" + S + "-00 ", "cc-" + T + "-" + S + "-03-more", "ff-" + T + "-" + S + "-01",
      "00-00000000000000000000000000000000-" + S + "-01", "00-" + T + "-0000000000000000-01", "00-" + T.toUpperCase() + "-" + S + "-01",
      "", "nonsense"
    }) {
      System.out.println("parse " + text.trim() + " > " + TraceParent.parse(text));
    }
    String given = "00-" + T + "-" + S + "-01";
    String other = "00-" + T.replace('a', 'b') + "-" + S + "-01";
    System.out.println("configured > " + TraceParent.ofApplication(given, other, false, "/steps/s-1", 1));
    System.out.println("environment > " + TraceParent.ofApplication("nonsense", other, false, "/steps/s-1", 1));
    System.out.println("step > " + TraceParent.ofApplication(null, null, false, "/mnt/var/lib/hadoop/steps/s-1AB", 1));
    System.out.println("cluster > " + TraceParent.ofApplication(null, null, true, "/mnt/var/lib/hadoop/steps/s-1AB", 1));
    System.out.println("none > " + TraceParent.ofApplication(null, null, false, "/home/hadoop", 1));
    Properties properties = new Properties();
    properties.setProperty(Platform.TRACEPARENT, given);
    System.out.println("session as application > " + TraceParent.ofJob(properties, null, given));
    System.out.println("session > " + TraceParent.ofJob(properties, null, other));
    System.out.println("tag > " + TraceParent.ofJob(properties, other, given));
    properties.setProperty("traceparent", other);
    System.out.println("thread > " + TraceParent.ofJob(properties, given, null));
    printReasons(Paths.get(args[0]));
    printRedactions();
    printBytes();
    Accessor gone = Accessor.of("java.lang.String", "gone");
    Accessor absent = Accessor.of("org.apache.spark.Absent", "time");
    System.out.println("accessor > " + gone.number("x") + " " + gone.text("x") + " " + absent.boxed("x") + " " + Accessor.missing());
    for (String container : new String[] {"container_e17_1700000000000_0042_02_000001", "container_1700000000000_0042_01_000003", null}) {
      System.out.println("attempt " + container + " > " + ExecutorHalf.attemptOf(container));
    }
    for (int i = 0; i < 50; i++) {
      String trace = Ids.trace("application_" + i, "");
      System.out.println("sample " + trace + " > " + TraceParent.samples(trace, i / 50.0));
    }
  }

  /** The file has a text of each kind and its class, which profiler/fold must find as well. */
  private static void printReasons(Path removals) throws IOException {
    String[] reasons = {"idle", "lost", "decommissioned", "killed", "preempted", "memory", "other"};
    for (String line : Files.readAllLines(removals)) {
      String text = line.substring(0, line.indexOf(" > "));
      int dynamic = ExecutorStatistics.reason(text, true);
      int fixed = ExecutorStatistics.reason(text, false);
      System.out.println("reason " + text + " > " + reasons[dynamic] + (dynamic == fixed ? "" : " or " + reasons[fixed]));
    }
  }

  private static void printRedactions() {
    Redaction defaults = new Redaction(null, null);
    Redaction own = new Redaction("(?i)customer \\d+", "(?i)pin");
    System.out.println("redact > " + defaults.text("load with fs.s3a.secret.key=abc, then token: 'a b' and user=me", 256));
    System.out.println("redact own > " + own.text("Customer 4711 has pin=1234 and password=x", 256));
    System.out.println("redact words > " + words(defaults));
    System.out.println("redact cut > " + defaults.text("0123456789", 4));
    System.out.println("redact pairs > " + defaults.text("\ud83d\ude00\ud83d\ude00\ud83d\ude00", 2).length());
  }

  /** Texts are sent in UTF-8: each of these characters has three bytes there. */
  private static void printBytes() {
    System.out.println("bytes > " + SpanBudget.bytes("a\u00e4\u20ac\ud83d\ude00"));
    char[] euros = new char[1 << 20];
    java.util.Arrays.fill(euros, '\u20ac');
    SpanBudget budget = new SpanBudget();
    int texts = 0;
    while (budget.text("trace", new String(euros))) {
      texts++;
    }
    System.out.println("texts of 3 MiB > " + texts);
  }

  /** Reads a hundred long words, which take no longer than other texts. */
  private static String words(Redaction redaction) {
    char[] word = new char[4096];
    java.util.Arrays.fill(word, 'x');
    long began = System.nanoTime();
    for (int i = 0; i < 100; i++) {
      redaction.text(new String(word), 1024);
    }
    long millis = (System.nanoTime() - began) / 1_000_000;
    return millis < 5_000 ? "soon" : millis + " ms";
  }
}
