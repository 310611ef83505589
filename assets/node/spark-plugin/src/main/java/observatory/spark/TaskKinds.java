package observatory.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * The durations of tasks that compute and of those that write. Whether a task without output belongs to
 * the writing job may be known only later. Its duration is held back until then, since exported counts
 * cannot be corrected.
 */
final class TaskKinds {
  final Histogram compute = new Histogram(Histogram.TASK_SECONDS);
  final Histogram write = new Histogram(Histogram.TASK_SECONDS);
  private final Map<Integer, Histogram> unsure = new HashMap<Integer, Histogram>();

  /** Where the duration of a task goes that has ended. */
  Histogram of(PhaseEngine engine, int stageId, boolean result, boolean wrote) {
    if (!result || wrote) {
      return result ? write : compute;
    }
    Facts.Stage stage = engine.stages.get(stageId);
    Facts.Job job = stage == null ? null : engine.jobs.get(stage.job);
    if (job == null || job.highestStage != stageId) {
      return compute;
    }
    int writes = Classifier.writes(engine, stage.job);
    if (writes != Classifier.PERHAPS) {
      return writes == Classifier.YES ? write : compute;
    }
    Histogram waiting = unsure.get(stage.job);
    if (waiting == null) {
      if (unsure.size() >= Limits.UNSURE_JOBS) {
        return write;
      }
      waiting = new Histogram(Histogram.TASK_SECONDS);
      unsure.put(stage.job, waiting);
    }
    return waiting;
  }

  /** Decides what is known by now; last: no more events will come. A forgotten job counts as writing. */
  void settle(PhaseEngine engine, boolean last) {
    for (Iterator<Map.Entry<Integer, Histogram>> i = unsure.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<Integer, Histogram> entry = i.next();
      boolean forgotten = engine.jobs.get(entry.getKey()) == null;
      int writes = forgotten ? Classifier.YES : Classifier.writes(engine, entry.getKey());
      if (last || writes != Classifier.PERHAPS) {
        (writes == Classifier.NO ? compute : write).add(entry.getValue());
        i.remove();
      }
    }
  }
}
