package suite;

import java.io.FileWriter;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * The job's own clock of its tasks: each executor writes when a task's thread begins and ends it. It
 * sees none of Spark's events. A line is "begin|end TASK STAGE MILLIS ACTION".
 */
public final class TaskClock implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Half();
  }

  private static final class Half implements ExecutorPlugin {
    private final ThreadLocal<String> task = new ThreadLocal<>();
    private FileWriter out;

    @Override
    public void init(PluginContext context, Map<String, String> extra) {
      String folder = context.conf().get("spark.suite.clock");
      String name = context.conf().getAppId() + "-" + context.executorID();
      try {
        out = new FileWriter(folder + "/" + name + ".tasks", true);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void onTaskStart() {
      long now = System.currentTimeMillis();
      TaskContext context = TaskContext.get();
      task.set(context.taskAttemptId() + " " + context.stageId());
      write("begin", now, context.getLocalProperty("suite.action"));
    }

    @Override
    public void onTaskSucceeded() {
      write("end", System.currentTimeMillis(), "");
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      write("end", System.currentTimeMillis(), "");
    }

    private synchronized void write(String what, long at, String action) {
      try {
        out.write(what + " " + task.get() + " " + at + " " + action + "\n");
        out.flush();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
