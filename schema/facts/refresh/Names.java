import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipFile;
import org.apache.hadoop.conf.Configuration;

/**
 * Prints the names of properties that applications know, one a line after the
 * classification of EMR that sets them, and a tab. The argument is Spark's folder of
 * jars. Run by the command refresh, with the applications' jars on the class path.
 */
public final class Names {
  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // for what the applications print themselves
    print(out, "spark-defaults", spark(new File(args[0])));
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
    Class<?> registry = Class.forName("org.apache.spark.internal.config.ConfigEntry$");
    var known = (Map<?, ?>) registry.getMethod("knownConfigs").invoke(registry.getField("MODULE$").get(null));
    for (var one : known.entrySet()) {
      names.add((String) one.getKey());
      Object alternatives = one.getValue().getClass().getMethod("alternatives").invoke(one.getValue());
      for (String name : ((String) alternatives.getClass().getMethod("mkString", String.class).invoke(alternatives, " ")).split(" ")) {
        names.add(name);
      }
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
