package node_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// beanOfS3A declares beans of S3A's file systems, and their server and names.
const beanOfS3A = `
public static class Bean implements javax.management.DynamicMBean {
  final String bucket; volatile long value; Bean(String b, long v) { bucket = b; value = v; }
  public Object getAttribute(String n) { return n.equals("tag.bucket") ? (Object) bucket : (Object) Long.valueOf(value); }
  public javax.management.AttributeList getAttributes(String[] names) {
    javax.management.AttributeList l = new javax.management.AttributeList();
    for (String n : names) l.add(new javax.management.Attribute(n, getAttribute(n)));
    return l; }
  public void setAttribute(javax.management.Attribute a) {}
  public javax.management.AttributeList setAttributes(javax.management.AttributeList l) { return l; }
  public Object invoke(String n, Object[] a, String[] s) { return null; }
  public javax.management.MBeanInfo getMBeanInfo() { return new javax.management.MBeanInfo("Bean", "", null, null, null, null); }
}
static final javax.management.MBeanServer server = java.lang.management.ManagementFactory.getPlatformMBeanServer();
static javax.management.ObjectName name(String n) throws Exception {
   return new javax.management.ObjectName("Hadoop:service=s3a-file-system,name=" + n); }
`

// seriesMain prints how many metrics and points of S3A a driver and an executor send, and
// the buckets of the points: of a bucket without requests, with requests, after its file
// system has closed, and with two more buckets.
const seriesMain = beanOfS3A + `
static String count(S3aMetrics source) throws Exception {
  Otlp.Metrics out = new Otlp.Metrics(new java.util.HashMap<String, String>(), 0, 0);
  out.add(source);
  String json = out.finish();
  java.util.TreeMap<String, Integer> points = new java.util.TreeMap<String, Integer>();
  java.util.regex.Matcher m = java.util.regex.Pattern.compile(
    "\"bucket\",\"value\":\\{\"stringValue\":\"(\\w+)\"\\}\\}\\],\"asInt\":\"(\\d+)\"").matcher(json);
  while (m.find()) points.merge(m.group(1) + " " + m.group(2), 1, Integer::sum);
  return json.split("hadoop.s3a.", -1).length - 1 + " " + points; }
public static void main(String[] a) throws Exception {
  Bean bean = new Bean("lake", 0);
  server.registerMBean(bean, name("S3AMetrics1-lake"));
  S3aMetrics driver = new S3aMetrics(true), executor = new S3aMetrics(false);
  System.out.println(count(driver) + " " + count(executor));
  bean.value = 3;
  System.out.println(count(driver) + " " + count(executor));
  server.unregisterMBean(name("S3AMetrics1-lake"));
  System.out.println(count(driver) + " " + count(executor));
  server.registerMBean(new Bean("logs", 4), name("S3AMetrics2-logs"));
  server.registerMBean(new Bean("raw", 0), name("S3AMetrics3-raw"));
  System.out.println(count(driver) + " " + count(executor)); }`

// An executor has no series of what it never did, and keeps those of what it did: one of a
// counter, however many buckets it uses.
func TestExecutorsSendFewSeriesOfS3A(t *testing.T) {
	jar := lockedFile(t, platform.ArtifactLauncher)
	classes := compileJavaAgainst(t, ":"+jar, map[string]string{"observatory.launcher.Series": seriesMain})
	out, err := exec.Command("java", "-cp", classes+":"+jar, "observatory.launcher.Series").CombinedOutput()
	require.NoError(t, err, string(out))
	all := len(platform.S3ACounters())
	lake := fmt.Sprintf("%d {lake 3=%[1]d} %[1]d {any 3=%[1]d}\n", all)
	require.Equal(t, fmt.Sprintf("%d {lake 0=%[1]d} 0 {}\n", all)+lake+lake+
		fmt.Sprintf("%d {lake 3=%[1]d, logs 4=%[1]d, raw 0=%[1]d} %[1]d {any 7=%[1]d}\n", all), string(out))
}
