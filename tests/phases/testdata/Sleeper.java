package suite;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;

/** A listener of the job's own that takes its time, in the queue that listeners share. */
public final class Sleeper extends SparkListener {
  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded event) {
    rest();
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart event) {
    rest();
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    rest();
  }

  private static void rest() {
    try {
      Thread.sleep(700);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
