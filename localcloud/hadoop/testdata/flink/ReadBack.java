import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** Prints the configuration in the folder that is the argument, as Flink reads it, as a JSON object of texts. */
public final class ReadBack {
  public static void main(String[] args) throws Exception {
    new ObjectMapper().writeValue(System.out, GlobalConfiguration.loadConfiguration(args[0]).toMap());
  }
}
