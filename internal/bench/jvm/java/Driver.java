import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** Prints when its main method begins, and ends a given time after its SparkContext has started. */
public class Driver {
  public static void main(String[] arguments) throws Exception {
    System.out.println(System.currentTimeMillis());
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("bench"))) {
      Thread.sleep(Long.parseLong(arguments[0]));
    }
  }
}
