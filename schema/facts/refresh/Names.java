import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.internal.config.ConfigEntry;
import scala.Function1;
import scala.Option;

/**
 * Prints the names of properties that applications know, one a line after the
 * classification of EMR that sets them, and a tab. Lines of "setting" say what values
 * Spark takes of one, and lines of "sensitive" are patterns of names that hold secrets.
 * The argument is Spark's folder of jars. Run by the command refresh, with the
 * applications' jars on the class path.
 */
public final class Names {
  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // for what the applications print themselves
    print(out, "spark-defaults", spark(new File(args[0])));
    print(out, "setting", settings());
    print(out, "sensitive", sensitive());
    Set<String> deprecated = deprecated();
    for (Map.Entry<String, String> of :
        Map.of("core-site", "core", "hdfs-site", "hdfs", "yarn-site", "yarn", "mapred-site", "mapred").entrySet()) {
      print(out, of.getKey(), defaults(of.getValue() + "-default.xml"));
    }
    print(out, "deprecated", deprecated);
    print(out, "hive-site", hive());
  }

  private static void print(PrintStream out, String classification, Set<String> names) {
    for (String name : names) {
      out.println(classification + "\t" + name);
    }
  }

  /** An entry registers itself when the class that has it is loaded. */
  private static Set<String> spark(File jars) throws Exception {
    for (File jar : jars.listFiles((folder, name) -> name.startsWith("spark-"))) {
      try (ZipFile zip = new ZipFile(jar)) {
        for (var entry : Collections.list(zip.entries())) {
          if (entry.getName().endsWith("$.class") && has(zip.getInputStream(entry).readAllBytes(), "internal/config/ConfigBuilder")) {
            Class.forName(entry.getName().replace('/', '.').substring(0, entry.getName().length() - ".class".length()));
          }
        }
      }
    }
    Set<String> names = new TreeSet<>();
    for (ConfigEntry<?> one : registry()) {
      names.addAll(namesOf(one));
    }
    Class<?> conf = Class.forName("org.apache.spark.SparkConf$");
    var older = conf.getDeclaredField("allAlternatives");
    older.setAccessible(true);
    Object keys = older.get(conf.getField("MODULE$").get(null));
    Object set = keys.getClass().getMethod("keySet").invoke(keys);
    names.addAll(List.of(((String) set.getClass().getMethod("mkString", String.class).invoke(set, " ")).split(" ")));
    names.removeIf(name -> !name.startsWith("spark."));
    return names;
  }

  private static Collection<ConfigEntry<?>> registry() throws Exception {
    Class<?> registry = Class.forName("org.apache.spark.internal.config.ConfigEntry$");
    @SuppressWarnings("unchecked")
    var known = (Map<String, ConfigEntry<?>>) registry.getMethod("knownConfigs").invoke(registry.getField("MODULE$").get(null));
    return known.values();
  }

  /** The name of an entry, and older ones that are read the same way. */
  private static List<String> namesOf(ConfigEntry<?> entry) {
    List<String> names = new ArrayList<>(List.of(entry.key()));
    names.addAll(List.of(entry.alternatives().mkString(" ").split(" ")));
    names.removeIf(String::isEmpty);
    return names;
  }

  /** What values Spark takes, by what its own converters do with some. */
  private static Set<String> settings() throws Exception {
    Set<String> lines = new TreeSet<>();
    for (ConfigEntry<?> entry : registry()) {
      String taken = new Reader(entry).taken();
      for (String name : taken.isEmpty() ? List.<String>of() : namesOf(entry)) {
        if (!name.startsWith("spark.kubernetes.") && !name.startsWith("spark.mesos.")) {
          lines.add(name + "\t" + taken);
        }
      }
    }
    return lines;
  }

  /** Reads values as Spark reads those of one entry. */
  private record Reader(ConfigEntry<?> entry) {
    private static final Pattern LIST = Pattern.compile("(?s)(?:should be one of|Valid values are|should be either) (.*?)(?:, but was .*|$)");

    /** The value, null if Spark refuses it. */
    private Object read(String text) {
      try {
        @SuppressWarnings("unchecked")
        Object value = ((Function1<String, ?>) entry.valueConverter()).apply(text);
        return value instanceof Option<?> some ? some.get() : value;
      } catch (RuntimeException refused) {
        return null;
      }
    }

    /** Type, unit, least, most, values and "any" case, with tabs between; "" if any text will do. */
    private String taken() {
      if (read("no such value") != null) {
        return "";
      }
      for (String sample : new String[] {entry.defaultValueString(), "1", "0.5", "16", "128", "1000"}) {
        Object value = read(sample);
        if (value instanceof Boolean) {
          return "boolean\t\t\t\t\t";
        }
        if (value instanceof Integer || value instanceof Long) {
          return whole(((Number) value).longValue(), value instanceof Integer);
        }
        if (value instanceof Double) {
          return String.join("\t", "double", "", decimal((Double) value, -1), decimal((Double) value, 1), "", "");
        }
      }
      return choice("no such value");
    }

    /** Sizes and durations have units, which tell them from numbers. */
    private String whole(long taken, boolean isInt) {
      String listed = choice(Integer.toString(Integer.MIN_VALUE));
      if (!listed.isEmpty()) {
        return listed;
      }
      String type = isInt ? "int" : "long", unit = "";
      for (String[] one : new String[][] {{"bytes", "k", "b:1024", "k:1"}, {"bytes", "g", "m:1024"},
          {"duration", "d", "ms:86400000", "s:86400", "m:1440"}}) {
        for (String per : List.of(one).subList(2, one.length)) {
          String[] its = per.split(":");
          // A value inside the bounds, so that only its unit can be refused.
          long count = Math.max(1, taken / Long.parseLong(its[1]));
          if (Long.valueOf(count * Long.parseLong(its[1])).equals(read(count + one[1]))) {
            type = one[0];
            unit = its[0];
          }
        }
      }
      return String.join("\t", type, unit, bound(taken, isInt ? Integer.MIN_VALUE : Long.MIN_VALUE),
          bound(taken, isInt ? Integer.MAX_VALUE : Long.MAX_VALUE), "", "");
    }

    /** The last number from taken on towards end that Spark takes; "" if that is the end. */
    private String bound(long taken, long end) {
      // Sizes are refused at the end itself, because they have no sign of their own.
      if (read(Long.toString(end)) != null || read(Long.toString(end + 1)) != null && end < 0) {
        return "";
      }
      BigInteger in = BigInteger.valueOf(taken), out = BigInteger.valueOf(end);
      while (in.subtract(out).abs().compareTo(BigInteger.ONE) > 0) {
        BigInteger middle = in.add(out).divide(BigInteger.TWO);
        if (read(middle.toString()) != null) {
          in = middle;
        } else {
          out = middle;
        }
      }
      return in.toString();
    }

    /** The same of decimals, with a leading < or > where the bound itself is refused. */
    private String decimal(double taken, int direction) {
      for (double end : new double[] {0, 1}) {
        double beyond = end + direction * 1e-9;
        if (read(Double.toString(beyond)) == null && read(Double.toString(end - direction * 1e-9)) != null) {
          return (read(Double.toString(end)) != null ? "" : direction < 0 ? ">" : "<") + end;
        }
      }
      return "";
    }

    /** Values that the message of the refusal names, and that Spark takes. */
    private String choice(String wrong) {
      String said = "";
      try {
        @SuppressWarnings("unchecked")
        var converter = (Function1<String, ?>) entry.valueConverter();
        converter.apply(wrong);
      } catch (RuntimeException refused) {
        Matcher list = LIST.matcher(refused.getMessage());
        said = list.find() ? list.group(1) : "";
      }
      Set<String> values = new TreeSet<>();
      boolean anyCase = true;
      for (String value : said.split("[^A-Za-z0-9_-]+")) {
        if (!value.isEmpty() && read(value) != null) {
          values.add(value);
          anyCase = anyCase && read(value.toLowerCase(Locale.ROOT)) != null && read(value.toUpperCase(Locale.ROOT)) != null;
        }
      }
      return values.isEmpty() ? "" : String.join("\t", "choice", "", "", "", String.join(" ", values), anyCase ? "any" : "");
    }
  }

  /** Names that Hadoop and Spark do not log the values of (expressions of Java). */
  private static Set<String> sensitive() throws Exception {
    Configuration file = new Configuration(false);
    file.addResource("core-default.xml");
    Set<String> patterns = new TreeSet<>();
    for (String one : file.get("hadoop.security.sensitive-config-keys").split("[,\\s]+")) {
      patterns.add(one);
    }
    for (ConfigEntry<?> entry : registry()) {
      if (entry.key().equals("spark.redaction.regex")) {
        patterns.add(entry.defaultValueString());
      }
    }
    patterns.removeIf(String::isEmpty);
    return patterns;
  }

  private static boolean has(byte[] content, String text) {
    return new String(content, StandardCharsets.ISO_8859_1).contains(text);
  }

  private static Set<String> defaults(String resource) throws IOException {
    Configuration file = new Configuration(false);
    file.addResource(resource);
    Set<String> names = new TreeSet<>();
    file.forEach(one -> names.add(one.getKey()));
    if (names.isEmpty()) {
      throw new IOException(resource + " is not on the class path");
    }
    return names;
  }

  /** Older names that Hadoop's configurations still read. */
  private static Set<String> deprecated() throws Exception {
    new org.apache.hadoop.hdfs.HdfsConfiguration();
    new org.apache.hadoop.yarn.conf.YarnConfiguration();
    new org.apache.hadoop.mapred.JobConf();
    var written = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(written, true));
    Configuration.dumpDeprecatedKeys();
    System.setOut(before);
    Set<String> names = new TreeSet<>();
    written.toString(StandardCharsets.UTF_8).lines().forEach(line -> names.add(line.split("\t")[0]));
    return names;
  }

  private static Set<String> hive() throws Exception {
    Set<String> names = new TreeSet<>();
    Class<?> variables = Class.forName("org.apache.hadoop.hive.conf.HiveConf$ConfVars");
    for (Object one : variables.getEnumConstants()) {
      names.add((String) variables.getField("varname").get(one));
    }
    return names;
  }
}
