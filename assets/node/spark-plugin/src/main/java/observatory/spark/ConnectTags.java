package observatory.spark;

import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the tags of a job say about the call of a Spark Connect client that started it. Spark's server
 * tags each job of an operation with user, session and operation, and with the tags that the client has
 * added (ExecuteJobTag and ExecuteSessionTag in Spark 3.5 and 4.0). Jobs of an AnalyzePlan call have no
 * tags; ConnectCalls names their operation in a property.
 */
final class ConnectTags {
  /** org.apache.spark.SparkContext.SPARK_JOB_TAGS, whose values are separated by commas. */
  static final String PROPERTY = "spark.job.tags";

  private static final String UUID = "([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})";
  private static final Pattern OPERATION =
      Pattern.compile("SparkConnect_OperationTag_User_.*_Session_" + UUID + "_Operation_" + UUID);
  private static final Pattern SESSION =
      Pattern.compile("SparkConnect_SessionTag_User_.*_Session_" + UUID + "_Tag_(.*)");
  private static final Pattern NAME = Pattern.compile(UUID + "\\.(.+)");
  private static final Pattern ID = Pattern.compile(UUID);
  static final String PARENT = "traceparent=";

  /** null: the job is no client's. */
  final String session;

  /** Unique within its session. */
  final String operation;

  /** The trace context that a client has added as a tag, or null. */
  final String parent;

  private ConnectTags(String session, String operation, String parent) {
    this.session = session;
    this.operation = operation;
    this.parent = parent;
  }

  /** The tags of a job's properties, which may be null. */
  static ConnectTags of(Properties properties) {
    String tags = properties == null ? null : properties.getProperty(PROPERTY);
    String session = null;
    String operation = null;
    String parent = null;
    for (String tag : tags == null ? new String[0] : tags.split(",")) {
      Matcher ofOperation = OPERATION.matcher(tag);
      if (ofOperation.matches()) {
        session = ofOperation.group(1);
        operation = ofOperation.group(2);
      }
      Matcher ofSession = SESSION.matcher(tag);
      String own = ofSession.matches() ? ofSession.group(2) : tag;
      if (own.startsWith(PARENT)) {
        parent = own.substring(PARENT.length());
      }
    }
    String number = properties == null ? null : properties.getProperty(Platform.CONNECT_OPERATION);
    Matcher named = NAME.matcher(number == null ? "" : number);
    if (session == null && named.matches()) {
      session = named.group(1);
      operation = named.group(2);
    }
    return new ConnectTags(session, operation, parent);
  }

  /** Tells whether a text is an id as Spark's clients make them. */
  static boolean isId(String text) {
    return text.length() == 36 && ID.matcher(text).matches();
  }

  /** What a span of the operation is numbered by; null if there is none. */
  String number() {
    return session == null ? null : session + "." + operation;
  }
}
