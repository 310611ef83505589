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
 * sees none of Spark's events. A line is "begin|end|up TASK STAGE MILLIS".
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
    private final ThreadLocal<long[]> task = new ThreadLocal<>();
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
      write("up", new long[] {-1, -1});
    }

    @Override
    public void onTaskStart() {
      long now = System.currentTimeMillis();
      TaskContext context = TaskContext.get();
      task.set(new long[] {context.taskAttemptId(), context.stageId()});
      write("begin", task.get(), now);
    }

    @Override
    public void onTaskSucceeded() {
      write("end", task.get());
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      write("end", task.get());
    }

    private void write(String what, long[] id) {
      write(what, id, System.currentTimeMillis());
    }

    private synchronized void write(String what, long[] id, long at) {
      try {
        out.write(what + " " + id[0] + " " + id[1] + " " + at + "\n");
        out.flush();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
