package stepcause

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// info ends the logs of most Spark drivers.
const info = "26/11/27 10:00:09 INFO ShutdownHookManager: Shutdown hook called\n" +
	"26/11/27 10:00:09 INFO MetricsSystemImpl: s3a-file-system metrics system shutdown complete.\n"

// controller is EMR's log of a program that ended with a code.
func controller(code string) string {
	return "2026-11-27T10:00:00.001Z INFO startExec 'hadoop jar command-runner.jar spark-submit'\n" +
		"2026-11-27T10:00:42.001Z INFO waitProcessCompletion ended with exit code " + code + " : hadoop jar command-runner.jar spark-submit\n" +
		"2026-11-27T10:00:42.003Z WARN Step failed with exitCode " + code + " and took 42 seconds\n"
}

// client is what Spark's YARN client prints of a driver in cluster mode.
func client(diagnostics string) string {
	return "26/11/27 10:00:09 INFO Client: \n\t client token: N/A\n\t diagnostics: " + diagnostics + "\n\t final status: FAILED\n" +
		"26/11/27 10:00:09 ERROR Client: Application diagnostics message: " + diagnostics + "\n" +
		"Exception in thread \"main\" org.apache.spark.SparkException: Application application_1700000000000_0007 finished with failed status\n" +
		"\tat org.apache.spark.deploy.yarn.Client.run(Client.scala:1355)\n" + info
}

// How a program ended is its cause if no exception is, with what it printed last.
func TestCausesWithoutAnException(t *testing.T) {
	const traceback = "Traceback (most recent call last):\n  File \"/mnt/tmp/job.py\", line 4, in <module>\n    raise " +
		"ValueError(\"no\")\nValueError: no\n"
	for name, c := range map[string]struct {
		output, driver, controller string
		want                       string
	}{
		"System.exit from Python": {"26/11/27 10:00:00 INFO SparkContext: Running Spark version 3.5.6\nWROTE 1\nEXIT 2\n" + info, "",
			controller("3"),
			"exit code 3 without an exception; the job's last lines:\n  WROTE 1\n  EXIT 2"},
		"nothing printed": {info, "", controller("3"), "exit code 3 without an exception"},
		"sys.exit with a message": {info + "no such table: orders\n", "", controller("1"),
			"exit code 1 without an exception; the job's last lines:\n  no such table: orders"},
		"killed": {"loading\n", "", controller("137"),
			"exit code 137 without an exception: killed by signal 9, as by YARN or by the kernel when memory runs out; the job's last " +
				"lines:\n  loading"},
		"terminated": {"loading\n", "", controller("143"),
			"exit code 143 without an exception: ended by signal 15 (terminated); the job's last lines:\n  loading"},
		"its own errors": {"26/11/27 10:00:00 ERROR Orders: no such day\n" + info, "", controller("2"),
			"exit code 2 without an exception; the job's last lines:\n  26/11/27 10:00:00 ERROR Orders: no such day"},
		"a warning at the end": {"done\n26/11/27 10:00:05 WARN TransportChannelHandler: Exception in connection from /10.0.0.7:41234\n" +
			"java.io.IOException: Connection reset by peer\n\tat java.base/sun.nio.ch.SocketDispatcher.read0(Native Method)\n", "", controller("5"),
			"exit code 5 without an exception; the job's last lines:\n  done"},
		"an exception that the job printed": {info + "java.lang.IllegalStateException: no orders\n\tat " +
			"com.example.Orders$.main(Orders.scala:7)\n" + info,
			"", controller("1"), "java.lang.IllegalStateException: no orders\n  at Orders.scala:7, in com.example.Orders$.main"},
		"an exception": {info + traceback + info, "", controller("1"),
			"ValueError: no\n  at job.py:4, in <module>: raise ValueError(\"no\")"},
		"a wrong argument": {"Error: Missing application resource.\n", "", controller("1"), "Error: Missing application resource."},
		"an ended executor": {"26/11/27 10:00:00 INFO YarnAllocator: Completed container c_1 (state: COMPLETE, exit status: 143)\n",
			"", "", ""},
		"the controller's code": {"", "", controller("1"), "exit code 1 without an exception"},
		"cluster mode, System.exit": {client("Shutdown hook called before final status was reported."), "WROTE 1\nEXIT 2\n" + info,
			controller("1"),
			"exit without an exception: the driver's JVM ended before Spark had the application's final status (System.exit, or a signal); " +
				"the job's last lines:\n  WROTE 1\n  EXIT 2"},
		"cluster mode, sys.exit": {client("User application exited with status 3"), "no such table: orders\n" +
			"26/11/27 10:00:08 ERROR ApplicationMaster: User application exited with status 3\n", controller("1"),
			"exit code 3 without an exception; the job's last lines:\n  no such table: orders\n" +
				"  26/11/27 10:00:08 ERROR ApplicationMaster: User application exited with status 3"},
		"cluster mode, an exit code that YARN saw": {client("Application application_1700000000000_0007 failed 1 times due to AM Container for " +
			"appattempt_1700000000000_0007_000001 exited with  exitCode: 3"), "EXIT 2\n", controller("1"),
			"exit code 3 without an exception; the job's last lines:\n  EXIT 2"},
		"cluster mode, an exception": {client("User application exited with status 1"), traceback, controller("1"),
			"ValueError: no\n  at job.py:4, in <module>: raise ValueError(\"no\")"},
		"cluster mode, the driver's log is not there": {client("User application exited with status 3"), "", controller("1"),
			"exit code 3; the driver's own log, which says why, could not be read"},
		"cluster mode, killed": {client("Application application_1700000000000_0007 failed 1 times due to AM Container for " +
			"appattempt_1700000000000_0007_000001 exited with  exitCode: 137"), "", controller("1"),
			"Application application_1700000000000_0007 failed 1 times due to AM Container for appattempt_1700000000000_0007_000001 " +
				"exited with  exitCode: 137"},
	} {
		t.Run(name, func(t *testing.T) {
			var s Search
			add := func(log string, kind Kind, text string) {
				var f Finder
				for line := range strings.Lines(text) {
					f.Add(strings.TrimSuffix(line, "\n"))
				}
				s.Add(log, kind, &f)
			}
			add("stderr", Output, c.output)
			if s.WantsController() {
				add("controller", Controller, c.controller)
			}
			if c.driver != "" {
				require.True(t, s.WantsDriver())
				add("driver", Driver, c.driver)
			}
			cause := s.Cause()
			if c.want == "" {
				require.Nil(t, cause)
				return
			}
			require.NotNil(t, cause)
			require.Equal(t, c.want, cause.String())
			require.NotEmpty(t, cause.Log)
		})
	}
}

// The levels of log events are those of their layouts.
func TestLayoutsOfLogEvents(t *testing.T) {
	const exception = "java.io.IOException: no"
	for line, want := range map[string]weight{
		"26/11/27 10:00:09 INFO A: " + exception: handled, "2026-11-27 10:00:09,123 WARN  [main] a.B: " + exception: handled,
		"2026-11-27T10:00:09.123Z ERROR a.B: " + exception: logged, "[2026-11-27 10:00:09,123] FATAL " + exception: logged,
		"10:00:09.123 [main] ERROR a.B - " + exception: logged, "INFO A: " + exception: handled, "[WARN] " + exception: handled,
		"WARNING:root:" + exception: handled, "SEVERE: " + exception: logged, "2026-11-27 10:00:09,123 - orders - ERROR - " + exception: logged,
		"2026-11-27 10:00:09,123 - orders - INFO - " + exception: handled,
		`{"ts":"2026-11-27T10:00:09.123Z","level":"WARN","msg":"x","exception":{"class":"java.io.IOException","msg":"no"},` +
			`"logger":"A"}`: handled,
		`{"ts":"2026-11-27T10:00:09.123Z","level":"ERROR","msg":"x","exception":{"class":"java.io.IOException","msg":"no"},` +
			`"logger":"A"}`: logged,
		`{"@timestamp":"2026-11-27T10:00:09.123Z","log.level":"ERROR","message":"x","error.type":"java.io.IOException",` +
			`"error.message":"no"}`: logged,
		exception: printed,
	} {
		found := findCause([]string{line})
		require.Equal(t, want, found.weight, line)
		require.Equal(t, exception, found.Exception, line)
	}
	found := findCause([]string{`{"ts":"2026-11-27T10:00:09.123Z","level":"ERROR","msg":"Aborting task",` +
		`"exception":{"class":"java.io.IOException",` +
		`"msg":"no","stacktrace":[{"class":"java.io.File","method":"a","file":"File.java","line":1},` +
		`{"class":"com.example.Orders$","method":"main","file":"Orders.scala","line":7}]},"logger":"Utils"}`})
	require.Equal(t, exception+"\n  at Orders.scala:7, in com.example.Orders$.main", found.String())
}

func TestMessagesOfEMR(t *testing.T) {
	for line, want := range map[string]string{
		"26/11/27 10:00:09 INFO MetricsSystemImpl: s3a-file-system metrics system shutdown complete.": "",
		"WARN NativeCodeLoader: Unable to load native-hadoop library":                                 "",
		"Caused by: java.io.IOException: no such bucket": "Caused by: " +
			"java.io.IOException: no such bucket",
		"26/11/27 10:00:09 ERROR Client: Application diagnostics message: x": "26/11/27 10:00:09 ERROR " +
			"Client: Application diagnostics message: x",
		"": "",
	} {
		require.Equal(t, want, Message(line))
	}
}
