package observatory.spark;

/** Names shared with the rest of the platform. Generated from package platform; do not edit. */
final class Platform {
  private Platform() {}

  static final String DRIVER_ID = "driver";
  static final long EXPORT_MILLIS = 10000;
  static final String TRACEPARENT = "spark.observatory.traceparent";
  static final String CONNECT_OPERATION = "spark.observatory.connect.operation";
  static final String CONNECT_JAR = "/opt/observatory/connect.jar";
  static final String SAMPLING_RATIO = "spark.observatory.tracing.samplingRatio";
  static final long SPAN_BUDGET = 20000;
  static final long SPAN_BUDGET_BYTES = 10485760;

  static final String[][] AIRFLOW = {
    {"spark.observatory.airflow.dag_id", "dag_id"},
    {"spark.observatory.airflow.task_id", "task_id"},
    {"spark.observatory.airflow.run_id", "run_id"},
    {"spark.observatory.airflow.try_number", "try_number"},
  };

  static final String[] PHASES = {
    "driver",
    "submit",
    "resource_wait",
    "compute",
    "io_write",
    "idle",
  };

  static final String[] SESSION_SERVERS = {
    "org.apache.spark.repl.Main",
    "pyspark-shell",
    "sparkr-shell",
    "HiveThriftServer2",
    "SparkConnectServer",
    "org.apache.livy.rsc.driver.RSCDriverBootstrapper",
    "SparkSQLCLIDriver",
  };

  static final String[] WRITE_COMMANDS = {
    "InsertIntoHadoopFsRelationCommand",
    "InsertIntoHiveTable",
    "InsertIntoHiveDirCommand",
    "InsertIntoDataSourceCommand",
    "InsertIntoDataSourceDirCommand",
    "SaveIntoDataSourceCommand",
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "WriteFiles",
    "AppendData",
    "OverwriteByExpression",
    "OverwritePartitionsDynamic",
    "ReplaceData",
    "WriteDelta",
    "WriteToDataSourceV2",
    "WriteToContinuousDataSource",
    "CreateTableAsSelect",
    "ReplaceTableAsSelect",
  };
}
