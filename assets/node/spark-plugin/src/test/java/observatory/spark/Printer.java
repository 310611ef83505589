package observatory.spark;

import observatory.launcher.Signals;

/** Prints each point of the metrics whose names begin so: name, labels and value. */
final class Printer implements Signals.MetricWriter {
  private final String prefix;
  private String name;

  Printer(String prefix) {
    this.prefix = prefix;
  }

  @Override
  public void gauge(String metric, String unit) {
    name = metric;
  }

  @Override
  public void sum(String metric, String unit, boolean monotonic) {
    name = metric;
  }

  @Override
  public void histogram(String metric, String unit) {
    name = metric;
  }

  @Override
  public void end() {}

  @Override
  public void point(long value, Object... attributes) {
    print(value, attributes);
  }

  @Override
  public void point(double value, Object... attributes) {
    print(value, attributes);
  }

  @Override
  public void point(long[] counts, double[] bounds, double sum, Object... attributes) {
    print(sum, attributes);
  }

  private void print(double value, Object... attributes) {
    if (!name.startsWith(prefix)) {
      return;
    }
    StringBuilder line = new StringBuilder(name);
    for (int i = 1; i < attributes.length; i += 2) {
      line.append(' ').append(attributes[i]);
    }
    System.out.println(line.append(" = ").append(value));
  }
}
