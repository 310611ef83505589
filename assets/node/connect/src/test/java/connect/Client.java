package connect;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.spark.connect.proto.AnalyzePlanRequest;
import org.apache.spark.connect.proto.ConfigRequest;
import org.apache.spark.connect.proto.ExecutePlanRequest;
import org.apache.spark.connect.proto.ExecutePlanResponse;
import org.apache.spark.connect.proto.KeyValue;
import org.apache.spark.connect.proto.Plan;
import org.apache.spark.connect.proto.Read;
import org.apache.spark.connect.proto.Relation;
import org.apache.spark.connect.proto.SQL;
import org.apache.spark.connect.proto.SparkConnectServiceGrpc;
import org.apache.spark.connect.proto.SparkConnectServiceGrpc.SparkConnectServiceBlockingStub;
import org.apache.spark.connect.proto.UserContext;
import org.sparkproject.connect.grpc.ManagedChannel;
import org.sparkproject.connect.grpc.Metadata;
import org.sparkproject.connect.grpc.StatusRuntimeException;
import org.sparkproject.connect.grpc.netty.NettyChannelBuilder;
import org.sparkproject.connect.grpc.stub.MetadataUtils;

/**
 * Clients of a real Spark Connect server, all at once, by Spark's own protocol: each argument after the
 * port, the number of operations and a JSON file is a session, "<how>:<trace context>", whose operations name their
 * parent in that way: metadata, tag, configuration or none. Prints "<how> <session> <operation>" of each
 * operation, and "no-job" or "failed" of two that run none; the last one reads the file and so calls AnalyzePlan.
 */
public final class Client {
  private final SparkConnectServiceBlockingStub stub;
  private final String how;
  private final String parent;
  private final String session = UUID.randomUUID().toString();

  /** The latest operation. */
  private String latest;

  private Client(SparkConnectServiceBlockingStub stub, String argument) {
    how = argument.substring(0, argument.indexOf(':'));
    parent = argument.substring(argument.indexOf(':') + 1);
    Metadata headers = new Metadata();
    if (how.equals("metadata")) {
      headers.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), parent);
    }
    this.stub = stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  public static void main(String[] args) throws Exception {
    ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(args[0])).usePlaintext().build();
    SparkConnectServiceBlockingStub stub = SparkConnectServiceGrpc.newBlockingStub(channel).withWaitForReady();
    ExecutorService pool = Executors.newCachedThreadPool();
    List<Future<List<String>>> sessions = new ArrayList<Future<List<String>>>();
    for (int i = 3; i < args.length; i++) {
      final Client client = new Client(stub, args[i]);
      sessions.add(
          pool.submit(
              new Callable<List<String>>() {
                @Override
                public List<String> call() {
                  return client.run(Integer.parseInt(args[1]), args[2]);
                }
              }));
    }
    for (Future<List<String>> session : sessions) {
      for (String line : session.get(10, TimeUnit.MINUTES)) {
        System.out.println(line);
      }
    }
    pool.shutdown();
    channel.shutdownNow();
  }

  private List<String> run(int operations, String file) {
    if (how.equals("configuration")) {
      configure("spark.observatory.traceparent", parent);
      configure("spark.observatory.airflow.dag_id", "nightly");
    }
    List<String> lines = new ArrayList<String>();
    for (int i = 0; i < operations; i++) {
      lines.add(how + " " + session + " " + execute(sql("SELECT count(DISTINCT id % 7) FROM range(100)")));
    }
    lines.add(how + " " + session + " " + execute(sql("SHOW TABLES")) + " no-job");
    try {
      execute(sql("SELECT * FROM absent"));
    } catch (StatusRuntimeException e) {
      lines.add(how + " " + session + " " + latest + " failed");
    }
    // The schema of a JSON file is found by a job, which AnalyzePlan runs in gRPC's own thread.
    Relation json =
        Relation.newBuilder()
            .setRead(Read.newBuilder().setDataSource(Read.DataSource.newBuilder().setFormat("json").addPaths(file)))
            .build();
    stub.analyzePlan(
        AnalyzePlanRequest.newBuilder()
            .setSessionId(session)
            .setUserContext(user())
            .setSchema(AnalyzePlanRequest.Schema.newBuilder().setPlan(Plan.newBuilder().setRoot(json)))
            .build());
    lines.add(how + " " + session + " analysis");
    return lines;
  }

  private UserContext user() {
    return UserContext.newBuilder().setUserId("user_of_" + how).build();
  }

  private void configure(String key, String value) {
    ConfigRequest.Set set = ConfigRequest.Set.newBuilder().addPairs(KeyValue.newBuilder().setKey(key).setValue(value)).build();
    stub.config(
        ConfigRequest.newBuilder()
            .setSessionId(session)
            .setUserContext(user())
            .setOperation(ConfigRequest.Operation.newBuilder().setSet(set))
            .build());
  }

  private static Relation sql(String query) {
    return Relation.newBuilder().setSql(SQL.newBuilder().setQuery(query)).build();
  }

  private String execute(Relation relation) {
    String operation = UUID.randomUUID().toString();
    latest = operation;
    ExecutePlanRequest.Builder request =
        ExecutePlanRequest.newBuilder()
            .setSessionId(session)
            .setUserContext(user())
            .setOperationId(operation)
            .setPlan(Plan.newBuilder().setRoot(relation));
    if (how.equals("tag")) {
      request.addTags("traceparent=" + parent);
    }
    Iterator<ExecutePlanResponse> responses = stub.executePlan(request.build());
    while (responses.hasNext()) {
      responses.next();
    }
    return operation;
  }
}
