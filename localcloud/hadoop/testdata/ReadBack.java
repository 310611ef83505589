import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.security.ssl.SSLFactory;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.ConfigurationFactory;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.spark.SparkConf;

/**
 * Reads a node's configuration as its applications do. Arguments: the folders of Hadoop's, Spark's and
 * Hive's configuration, of which the first two come first on the class path. Each line of standard
 * input is a classification, a tab and a property. It prints each property's value in Base64, or "-"
 * for none.
 */
public final class ReadBack {
  private interface Reader {
    String get(String property) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // for what the applications print themselves
    Map<String, Reader> readers = readers(args[0], args[1], args[2]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] asked = line.split("\t", 2);
      Reader reader = readers.get(asked[0]);
      if (reader == null) {
        throw new IllegalArgumentException("no class here reads " + asked[0]);
      }
      String value = reader.get(asked[1]);
      out.println(value == null ? "-" : Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)));
    }
  }

  private static Map<String, Reader> readers(String hadoop, String spark, String hiveFolder) throws Exception {
    Map<String, Reader> readers = new HashMap<>();
    readers.put("core-site", new Configuration()::get);
    readers.put("hdfs-site", new HdfsConfiguration()::get);
    readers.put("yarn-site", new YarnConfiguration()::get);
    readers.put("mapred-site", new JobConf()::get);
    readers.put("capacity-scheduler", ((Configuration) Class
        .forName("org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration")
        .getDeclaredConstructor().newInstance())::get);
    readers.put("hadoop-policy", acls());
    for (SSLFactory.Mode mode : SSLFactory.Mode.values()) {
      Configuration ssl = SSLFactory.readSSLConfiguration(new Configuration(), mode);
      readers.put("hadoop-ssl-" + mode.name().toLowerCase(), ssl::get);
    }
    readers.put("hadoop-metrics2", hadoopMetrics(hadoop + "/hadoop-metrics2.properties"));
    readers.put("hadoop-log4j", log4j(hadoop + "/log4j2.properties"));
    readers.put("spark-defaults", sparkDefaults(spark + "/spark-defaults.conf"));
    readers.put("spark-log4j2", log4j(spark + "/log4j2.properties"));
    readers.put("spark-metrics", sparkMetrics());
    readers.put("spark-hive-site", new HiveConf()::get);
    File site = new File(hiveFolder, "hive-site.xml");
    if (site.exists()) {
      HiveConf hive = new HiveConf();
      hive.addResource(new FileInputStream(site));
      readers.put("hive-site", hive::get);
    }
    return readers;
  }

  /** What the NameNode allows: the ACL of a protocol by the name of its property. */
  private static Reader acls() throws Exception {
    Class<?> manager = Class.forName("org.apache.hadoop.security.authorize.ServiceAuthorizationManager");
    Class<?> provider = Class.forName("org.apache.hadoop.security.authorize.PolicyProvider");
    Object policies = Class.forName("org.apache.hadoop.hdfs.HDFSPolicyProvider").getDeclaredConstructor().newInstance();
    Object service = manager.getDeclaredConstructor().newInstance();
    manager.getMethod("refresh", Configuration.class, provider).invoke(service, new Configuration(), policies);
    return property -> {
      for (Object one : (Object[]) provider.getMethod("getServices").invoke(policies)) {
        if (one.getClass().getMethod("getServiceKey").invoke(one).equals(property)) {
          Object protocol = one.getClass().getMethod("getProtocol").invoke(one);
          Object acl = manager.getMethod("getProtocolsAcls", Class.class).invoke(service, protocol);
          return (String) acl.getClass().getMethod("getAclString").invoke(acl);
        }
      }
      return null;
    };
  }

  private static Reader hadoopMetrics(String file) throws Exception {
    Method create = Class.forName("org.apache.hadoop.metrics2.impl.MetricsConfig").getDeclaredMethod("create", String.class, String[].class);
    create.setAccessible(true);
    Object config = create.invoke(null, "namenode", new String[] {file});
    Method get = config.getClass().getMethod("getString", String.class);
    get.setAccessible(true);
    return property -> (String) get.invoke(config, property.substring("namenode.".length()));
  }

  /** Levels of loggers, by the property that sets them. */
  private static Reader log4j(String file) throws Exception {
    ConfigurationSource source = new ConfigurationSource(new FileInputStream(file), new File(file));
    var config = ConfigurationFactory.getInstance().getConfiguration(new LoggerContext("read"), source);
    config.initialize();
    return property -> property.equals("rootLogger.level")
        ? config.getRootLogger().getLevel().name()
        : config.getLoggerConfig(property.substring("logger.".length(), property.length() - ".level".length())).getLevel().name();
  }

  private static Reader sparkDefaults(String file) throws Exception {
    Class<?> utils = Class.forName("org.apache.spark.util.Utils$");
    Object read = utils.getMethod("getPropertiesFromFile", String.class).invoke(utils.getField("MODULE$").get(null), file);
    Method contains = Class.forName("scala.collection.MapLike").getMethod("contains", Object.class);
    Method apply = Class.forName("scala.collection.MapLike").getMethod("apply", Object.class);
    return property -> (boolean) contains.invoke(read, property) ? (String) apply.invoke(read, property) : null;
  }

  /** Properties of the driver's instance. */
  private static Reader sparkMetrics() throws Exception {
    Class<?> type = Class.forName("org.apache.spark.metrics.MetricsConfig");
    Object config = type.getConstructor(SparkConf.class).newInstance(new SparkConf(false));
    type.getMethod("initialize").invoke(config);
    Properties properties = (Properties) type.getMethod("getInstance", String.class).invoke(config, "driver");
    return property -> properties.getProperty(property.substring("driver.".length()));
  }
}
