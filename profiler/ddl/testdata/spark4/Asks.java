import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;

/** Executes the statements of a file, between lines of ";", and writes their rows as JSON, a line per statement. */
public final class Asks {
    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory(Path.of(args[1]).getParent(), "warehouse");
        SparkSession spark = SparkSession.builder().master("local[1]")
            .config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
            .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.warehouse.dir", folder.toString())
            // Generated code of many short queries takes longer to compile than they take.
            .config("spark.sql.codegen.wholeStage", "false").config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.adaptive.enabled", "false").config("spark.sql.constraintPropagation.enabled", "false")
            .config("spark.sql.hive.manageFilesourcePartitions", "false") // as Unity Catalog, which lists folders
            .getOrCreate();
        List<String> lines = new ArrayList<>();
        for (String statement : Files.readString(Path.of(args[0])).split("\n;\n")) {
            try {
                List<String> rows = new ArrayList<>();
                for (String row : spark.sql(statement).toJSON().collectAsList()) {
                    rows.add(row);
                }
                lines.add("[" + String.join(",", rows) + "]");
            } catch (Exception e) {
                throw new IllegalStateException(statement, e);
            }
        }
        Files.write(Path.of(args[1]), lines);
        spark.stop();
    }
}
