package observatory.spark;

/** Prints the methods that the plugin looks for and the Spark of the class path lacks. */
public final class Probe {
  private Probe() {}

  public static void main(String[] args) throws Exception {
    for (Class<?> group : Events.class.getDeclaredClasses()) {
      Class.forName(group.getName()); // runs the static initializer
    }
    Class.forName(PlanWrites.class.getName());
    System.out.println(Accessor.missing());
  }
}
