package observatory.spark;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import scala.collection.Iterator;

/**
 * Reads the events of Spark Connect's server (org.apache.spark.sql.connect.service.ExecuteEventsManager and
 * SessionEventsManager, Spark 3.5 and later). Their classes may be in a class loader of the job's own, so
 * that methods are looked up in the class of the event.
 */
final class ConnectEvents {
  static final String PREFIX = "org.apache.spark.sql.connect.service.SparkListenerConnect";

  /** Begins the statement in the text of a request, which is that of a protocol buffer. */
  private static final Pattern STATEMENT = Pattern.compile("\\b(?:sql|query): \"");

  /** Bytes of a statement that are read: spans show less. */
  private static final int STATEMENT_BYTES = 8 << 10;

  private final Recorder recorder;
  private final Map<String, Accessor> accessors = new HashMap<String, Accessor>();

  ConnectEvents(Recorder recorder) {
    this.recorder = recorder;
  }

  private Accessor of(Object event, String method) {
    String name = event.getClass().getName() + "." + method;
    Accessor accessor = accessors.get(name);
    if (accessor == null) {
      accessor = Accessor.of(event.getClass(), method);
      accessors.put(name, accessor);
    }
    return accessor;
  }

  /** kind: the name of the event without its prefix. */
  void event(String kind, Object event) {
    long time = of(event, "eventTime").number(event);
    if (kind.equals("SessionStarted")) {
      recorder.sessionStart(of(event, "sessionId").text(event), of(event, "userId").text(event), time);
    } else if (kind.equals("SessionClosed")) {
      recorder.sessionEnd(of(event, "sessionId").text(event), time);
    } else if (kind.equals("OperationStarted")) {
      Properties properties = properties(event);
      String user = of(event, "userId").text(event);
      recorder.operationStart(properties, user, time, statement(of(event, "statementText").text(event)));
    } else if (kind.equals("OperationFinished") || kind.equals("OperationClosed")) {
      recorder.operationEnd(number(event), time, null); // the second of them ends nothing
    } else if (kind.equals("OperationFailed")) {
      recorder.operationEnd(number(event), time, of(event, "errorMessage").text(event));
    } else if (kind.equals("OperationCanceled")) {
      recorder.operationEnd(number(event), time, "canceled");
    }
  }

  /** The properties that an operation's jobs will have. A tag of the client's is only asked for a parent. */
  private Properties properties(Object event) {
    StringBuilder tags = new StringBuilder(of(event, "jobTag").text(event));
    Iterator<?> own = (Iterator<?>) Events.ITERATOR.value(of(event, "sparkSessionTags").value(event));
    while (own != null && own.hasNext()) {
      String tag = String.valueOf(own.next());
      tags.append(tag.startsWith(ConnectTags.PARENT) ? "," + tag : "");
    }
    Properties properties = new Properties();
    properties.setProperty(ConnectTags.PROPERTY, tags.toString());
    String number = ConnectTags.of(properties).number();
    String caller = number == null ? null : ConnectCalls.parentOf(number);
    if (caller != null) {
      properties.setProperty(ConnectCalls.THREAD_PARENT, caller);
    }
    return properties;
  }

  private String number(Object event) {
    Properties properties = new Properties();
    properties.setProperty(ConnectTags.PROPERTY, of(event, "jobTag").text(event));
    return ConnectTags.of(properties).number();
  }

  /** The statement of a request, null if it has none: a data frame's plan is nothing to read. */
  static String statement(String request) {
    Matcher found = STATEMENT.matcher(request == null ? "" : request);
    if (!found.find()) {
      return null;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = found.end(); i < request.length() && request.charAt(i) != '"' && bytes.size() < STATEMENT_BYTES; i++) {
      char c = request.charAt(i);
      int digits = 0;
      int octal = 0;
      if (c == '\\' && i + 1 < request.length()) {
        c = request.charAt(++i);
        int end = Math.min(i + 3, request.length());
        for (; i + digits < end && Character.digit(request.charAt(i + digits), 8) >= 0; digits++) {
          octal = 8 * octal + Character.digit(request.charAt(i + digits), 8);
        }
        c = "nrt".indexOf(c) >= 0 ? ' ' : c;
        i += Math.max(0, digits - 1);
      }
      bytes.write(digits > 0 ? octal : c); // other characters than ASCII's come as octal bytes
    }
    return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
  }
}
