package observatory.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import observatory.launcher.Span;

/**
 * The sessions and operations of a Spark Connect server. An operation belongs where its first job does:
 * in the trace of the caller, or in a trace of its session, whose root is the session's span.
 */
final class Operations {
  /** Properties of a session that decide on a place, or that its spans show. */
  static final List<String> CONFIGURED = new ArrayList<String>();

  private static final int UUID_LENGTH = 36;

  static {
    CONFIGURED.add(Platform.TRACEPARENT);
    for (String[] airflow : Platform.AIRFLOW) {
      CONFIGURED.add(airflow[0]);
    }
  }

  /** What a session or an operation is called, and what is known of it before a job tells. */
  static final class Names {
    final String session;

    /** null of a session. */
    final String operation;

    String user;

    /** Of an operation: what the properties of its jobs would be. Of a session: its configuration. */
    final Properties properties = new Properties();

    Names(String session, String operation, String user) {
      this.session = session;
      this.operation = operation;
      this.user = user;
    }

    void put(SpanTexts texts, String trace, Span span) {
      span.put("spark.connect.session.id", session).put("spark.connect.operation.id", operation);
      texts.put(trace, span, "spark.connect.user", user);
      for (String[] airflow : Platform.AIRFLOW) {
        texts.put(trace, span, "airflow." + airflow[1], operation == null ? null : properties.getProperty(airflow[0]));
      }
    }

    /** The name of its span: the first digits of an id tell it from its neighbours. */
    String title() {
      String id = operation == null ? session : operation;
      return (operation == null ? "session " : "operation ") + (id.length() == UUID_LENGTH ? id.substring(0, 8) : id);
    }
  }

  /** A map that forgets what was not used for the longest time. */
  private static final class Recent<T> extends LinkedHashMap<String, T> {
    private static final long serialVersionUID = 1;

    Recent() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
      return size() > Limits.ENDED_OPERATIONS;
    }
  }

  /** The oldest first. */
  private final Map<String, OpenSpan> sessions = new LinkedHashMap<String, OpenSpan>();

  /** How often a session has begun: Spark ends one that is not used, and a client that returns begins it again. */
  private final Map<String, Integer> begun = new Recent<Integer>();

  private final Map<String, OpenSpan> open = new HashMap<String, OpenSpan>();

  /** Of operations that have ended, what their late jobs need. */
  private final Map<String, OpenSpan> ended = new Recent<OpenSpan>();

  /** The operations that are open. */
  int size() {
    return open.size();
  }

  /** The session to end before one more may begin; null if there is room. */
  String surplus() {
    return sessions.size() < Limits.OPEN_SPANS ? null : sessions.keySet().iterator().next();
  }

  /** The session of this id, which begins now if its start is lost. */
  OpenSpan session(String id, String user, long time) {
    OpenSpan session = sessions.get(id);
    if (session == null) {
      Integer times = begun.get(id);
      int number = times == null ? 1 : times + 1;
      begun.put(id, number);
      session = new OpenSpan("session", number == 1 ? id : id + "." + number, time, null);
      session.names = new Names(id, null, user);
      sessions.put(id, session);
    }
    return session;
  }

  /** The session of this id; null if none is open. */
  OpenSpan knownSession(String id) {
    return sessions.get(id);
  }

  /** Begins an operation; properties are those that its jobs will have, as far as the server knows them. */
  void start(ConnectTags tags, Properties properties, String user, long time, String description) {
    OpenSpan operation = new OpenSpan("operation", tags.number(), time, description);
    operation.names = new Names(tags.session, tags.operation, user);
    operation.names.properties.putAll(session(tags.session, user, time).names.properties);
    operation.names.properties.putAll(properties);
    open.put(operation.number, operation);
  }

  /** The operation of a place, also if it has ended; null if it is of none, or of one that is not known. */
  OpenSpan of(Place place) {
    if (place.operation == null) {
      return null;
    }
    OpenSpan operation = open.get(place.operation);
    return operation == null ? ended.get(place.operation) : operation;
  }

  /** The operation of this number; null if it is not open. */
  OpenSpan open(String number) {
    return open.get(number);
  }

  /** Takes what a job or an execution says of its operation: how its session is configured. */
  void learn(ConnectTags tags, Properties properties) {
    OpenSpan operation = tags.session == null ? null : open.get(tags.number());
    if (operation == null) {
      return;
    }
    for (String name : CONFIGURED) {
      String value = properties.getProperty(name);
      if (value != null && !operation.names.properties.containsKey(name)) {
        operation.names.properties.setProperty(name, value);
      }
    }
  }

  /** Takes the whole configuration of a session, for its operations that will have neither job nor execution. */
  void configure(ConnectTags tags, Properties properties) {
    OpenSpan session = tags.session == null ? null : sessions.get(tags.session);
    if (session == null) {
      return;
    }
    session.names.properties.clear();
    for (String name : CONFIGURED) {
      String value = properties.getProperty(name);
      if (value != null) {
        session.names.properties.setProperty(name, value);
      }
    }
  }

  /** Ends an operation; returns null if it is not open. */
  OpenSpan end(String number) {
    return open.remove(number);
  }

  /** Keeps of an operation that has ended what its late jobs need. */
  void keep(OpenSpan operation) {
    OpenSpan kept = new OpenSpan(operation.kind, operation.number, operation.from, null);
    kept.place = operation.place;
    kept.kept = operation.kept;
    ended.put(kept.number, kept);
  }

  /** Ends a session; returns null if it is not open. */
  OpenSpan endSession(String id) {
    return sessions.remove(id);
  }

  /** The numbers of a session's operations that are open; of all sessions' if the id is null. */
  List<String> openOf(String session) {
    List<String> numbers = new ArrayList<String>();
    for (OpenSpan operation : open.values()) {
      if (session == null || operation.names.session.equals(session)) {
        numbers.add(operation.number);
      }
    }
    return numbers;
  }

  List<String> openSessions() {
    return new ArrayList<String>(sessions.keySet());
  }
}
