import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.auth.delegation.EncryptionSecrets;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * Prints, for each bucket that is an argument, what S3A asks of S3 with each write of a Spark
 * job there: the algorithm and the key, or NONE. The node's configuration is on the class path.
 */
public final class S3Encryption {
  public static void main(String[] buckets) throws Exception {
    Configuration conf = SparkHadoopUtil.get().newConfiguration(new SparkConf());
    for (String bucket : buckets) {
      Configuration own = S3AUtils.propagateBucketOptions(conf, bucket);
      EncryptionSecrets secrets = S3AUtils.buildEncryptionSecrets(bucket, own);
      System.out.println((secrets.getEncryptionMethod() + " " + secrets.getEncryptionKey()).trim());
    }
  }
}
