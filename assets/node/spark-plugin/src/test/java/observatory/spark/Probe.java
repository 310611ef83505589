package observatory.spark;

/** Prints the methods that the plugin looks for and the Spark of the class path lacks. */
public final class Probe {
  private Probe() {}

  public static void main(String[] args) {
    Events.probe(new Faults());
    System.out.println(Accessor.missing());
  }
}
