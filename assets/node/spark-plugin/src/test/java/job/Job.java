package job;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/** A job that does some of everything: SQL, a write, failed and slow tasks, parents of three kinds. */
public final class Job {
  private Job() {}

  public static void main(String[] args) throws Exception {
    if (args.length > 1 && args[1].equals("twice")) {
      count(1000);
      count(500);
      return;
    }
    if (args.length > 1 && args[1].equals("large")) {
      large(Integer.parseInt(args[2]));
      return;
    }
    SparkSession session = SparkSession.builder().getOrCreate();
    JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    File out = new File(args[0], "out");
    session.range(0, 1000, 1, 8).selectExpr("id % 10 as k", "id").groupBy("k").count().write().json(out.getPath());

    context.setLocalProperty("traceparent", "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01");
    context.setJobDescription("read with password=hunter2");
    context.parallelize(Arrays.asList(1, 2), 2).count();
    context.setJobDescription(null);
    context.setLocalProperty("traceparent", null);

    session.conf().set("spark.observatory.traceparent", "00-cccccccccccccccccccccccccccccccc-dddddddddddddddd-01");
    session.range(0, 10, 1, 2).selectExpr("max(id)").collectAsList();
    session.conf().unset("spark.observatory.traceparent");

    // So many that each executor has ended some before the slow one (TaskSpans.FEWEST).
    context
        .parallelize(Collections.nCopies(60, 1), 60)
        .foreach(
            one -> {
              int part = TaskContext.getPartitionId();
              Thread.sleep(part == 59 ? 2500 : 20);
              if (part == 3 && TaskContext.get().attemptNumber() == 0) {
                throw new IllegalStateException("refused with password=hunter2");
              }
              s3();
            });
    try {
      context.parallelize(Arrays.asList(1), 1).foreach(one -> { throw new IllegalStateException("never"); });
    } catch (Exception e) {
      System.out.println("the last job failed: " + (e instanceof SparkException));
    }
    stream(session, args[0]);
    context.setJobDescription("after the stream");
    context.parallelize(Arrays.asList(1), 1).count();
    context.setJobDescription(null);
    if (args.length > 1) {
      return; // without stop(): Spark's shutdown hook stops the context
    }
    session.stop();
  }

  /** A context that counts numbers, a task for each. */
  private static void count(int numbers) {
    try (JavaSparkContext context = new JavaSparkContext()) {
      System.out.println("counted " + context.parallelize(Collections.nCopies(numbers, 1), numbers).count());
    }
  }

  /** So many stages, of twenty tasks each. */
  private static void large(int stages) {
    try (JavaSparkContext context = new JavaSparkContext()) {
      for (int stage = 0; stage < stages; stage++) {
        context.parallelize(Collections.nCopies(20, 1), 20).count();
      }
    }
  }

  /** A file in each micro-batch. */
  private static void stream(SparkSession session, String dir) throws Exception {
    File in = new File(dir, "in");
    in.mkdirs();
    for (int i = 0; i < 3; i++) {
      Files.write(new File(in, i + ".txt").toPath(), "line\n".getBytes(StandardCharsets.UTF_8));
    }
    session
        .readStream()
        .option("maxFilesPerTrigger", 1)
        .text(in.getPath())
        .writeStream()
        .format("noop")
        .option("checkpointLocation", new File(dir, "checkpoint").getPath())
        .trigger(Trigger.AvailableNow())
        .start()
        .awaitTermination();
  }

  /** What S3A does when it closes a stream that has put an object in 5 ms. */
  private static void s3() {
    IOStatisticsSnapshot statistics = new IOStatisticsSnapshot();
    statistics.meanStatistics().put("object_put_request.mean", new MeanStatistic(1, 5));
    IOStatisticsContext.getCurrentIOStatisticsContext().getAggregator().aggregate(statistics);
  }
}
