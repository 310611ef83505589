package observatory.spark;

import java.util.Properties;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorExcluded;
import org.apache.spark.scheduler.SparkListenerExecutorExcludedForStage;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerExecutorUnexcluded;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerNodeExcluded;
import org.apache.spark.scheduler.SparkListenerNodeExcludedForStage;
import org.apache.spark.scheduler.SparkListenerNodeUnexcluded;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import scala.collection.Iterator;

/**
 * Takes an application's events from Spark's listener bus and hands their facts to a recorder. Nothing
 * thrown here reaches the bus, which would log it for each event.
 */
final class AppListener extends SparkListener {
  private final Recorder recorder;
  private final ConnectEvents connect;
  private final Faults faults;

  AppListener(Recorder recorder, Faults faults) {
    this.recorder = recorder;
    connect = new ConnectEvents(recorder);
    this.faults = faults;
  }

  private void failed(Throwable t) {
    faults.say("an event of Spark's was not understood", t);
  }

  @Override
  public void onApplicationStart(SparkListenerApplicationStart e) {
    try {
      Events.probe(faults);
      recorder.applicationStart(
          Events.App.ID.text(e), Events.App.ATTEMPT.text(e), Events.App.NAME.text(e), Events.App.START.number(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd e) {
    try {
      recorder.applicationEnd(Events.App.END.number(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onBlockManagerAdded(SparkListenerBlockManagerAdded e) {
    try {
      String id = Events.Executors.BLOCKS_EXECUTOR.text(Events.Executors.BLOCKS_ID.value(e));
      recorder.blockManagerAdded(id, Events.Executors.BLOCKS_TIME.number(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded e) {
    try {
      recorder.executorAdded(
          Events.Executors.ADDED_ID.text(e), Events.Executors.ADDED.number(e), Events.Executors.INFO.value(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved e) {
    try {
      recorder.executorRemoved(
          Events.Executors.REMOVED_ID.text(e), Events.Executors.REMOVED.number(e), Events.Executors.REASON.text(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onExecutorExcluded(SparkListenerExecutorExcluded e) {
    excluded(Events.Exclusion.EXECUTOR, e);
  }

  @Override
  public void onExecutorUnexcluded(SparkListenerExecutorUnexcluded e) {
    excluded(Events.Exclusion.EXECUTOR_UNDONE, e);
  }

  @Override
  public void onExecutorExcludedForStage(SparkListenerExecutorExcludedForStage e) {
    excluded(Events.Exclusion.EXECUTOR_OF_STAGE, e);
  }

  @Override
  public void onNodeExcluded(SparkListenerNodeExcluded e) {
    excluded(Events.Exclusion.HOST, e);
  }

  @Override
  public void onNodeUnexcluded(SparkListenerNodeUnexcluded e) {
    excluded(Events.Exclusion.HOST_UNDONE, e);
  }

  @Override
  public void onNodeExcludedForStage(SparkListenerNodeExcludedForStage e) {
    excluded(Events.Exclusion.HOST_OF_STAGE, e);
  }

  private void excluded(Events.Exclusion kind, SparkListenerEvent e) {
    try {
      recorder.excluded(kind, e);
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onJobStart(SparkListenerJobStart e) {
    try {
      Properties properties = (Properties) Events.Jobs.PROPERTIES.value(e);
      Iterator<?> stages = (Iterator<?>) Events.ITERATOR.value(Events.Jobs.STAGES.value(e));
      recorder.jobStart((int) Events.Jobs.ID.number(e), Events.Jobs.START.number(e), properties, stages);
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd e) {
    try {
      recorder.jobEnd((int) Events.Jobs.ENDED_ID.number(e), Events.Jobs.END.number(e), Events.Jobs.RESULT.value(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted e) {
    try {
      recorder.stageSubmitted(Events.Stages.SUBMITTED_INFO.value(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted e) {
    try {
      recorder.stageCompleted(Events.Stages.COMPLETED_INFO.value(e));
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart e) {
    try {
      recorder.taskStart(e);
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd e) {
    try {
      recorder.taskEnd(e);
    } catch (Throwable t) {
      failed(t);
    }
  }

  @Override
  public void onOtherEvent(SparkListenerEvent e) {
    try {
      String type = e.getClass().getName();
      if (type.equals(Events.Sql.START)) {
        recorder.sqlStart(e);
      } else if (type.equals(Events.Sql.PLAN)) {
        recorder.sqlPlan(e);
      } else if (type.equals(Events.Sql.END)) {
        recorder.sqlEnd(e);
      } else if (type.equals(Events.Streams.PROGRESS)) {
        recorder.batchEnd(e);
      } else if (type.equals(Events.Streams.END)) {
        recorder.queryEnd(e);
      } else if (e instanceof ConnectCalls.AnalysisEnded) {
        recorder.analysisEnded((ConnectCalls.AnalysisEnded) e);
      } else if (type.startsWith(ConnectEvents.PREFIX)) {
        connect.event(type.substring(ConnectEvents.PREFIX.length()), e);
      }
    } catch (Throwable t) {
      failed(t);
    }
  }
}
