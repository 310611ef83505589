package redaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
)

// The canary is never left, whatever is around it.
func TestSecretsAreHidden(t *testing.T) {
	rules := redaction.New(nil)
	for _, text := range []string{
		"password=hunter", "PASSWORD = 'hunter 2'", `{"db.password": "hunter \ x"}`, "connect(user=me, passwd=hunter, port=1)",
		"--password hunter", "spark-submit --conf spark.my.secret=hunter job.py", `-token "hunter"`,
		"CREATE USER a IDENTIFIED BY 'hunter'", "OPTIONS (user 'me', password 'hunter')", `.option("password", "hunter")`,
		"password('hunter')", "Authorization: Bearer hunter", "Authorization: Basic hunter==", "bearer hunterhunterhunter",
		"jdbc:postgresql://me:hunter@host:5432/db", "https://me:ge/heim@hunter@host/", "https://hunterhunterhunterhunter@github.com/x",
		"https://b.s3.amazonaws.com/k?X-Amz-Credential=hunter%2F2&X-Amz-Signature=hunter&X-Amz-Security-Token=hunter",
		"https://x/y?key=hunter&z=1", "https://a.blob.core.windows.net/x?sv=1&sig=hunter", "aws_secret_access_key = hunter",
		"-----BEGIN RSA PRIVATE KEY-----\nhunter\n-----END RSA PRIVATE KEY-----", "eyJhunter.hunter.hunter", "password=>hunter",
		"password='hunter", // cut
		strings.Repeat("x ", 600) + "https://me:hunter",
	} {
		hidden := rules.Text(text, 4096)
		require.NotContains(t, strings.ToLower(hidden), "hunter", text)
		require.Contains(t, hidden, redaction.Hidden, text)
		require.Equal(t, hidden, rules.Text(hidden, 4096), "hidden again: %s", text)
	}
	require.Equal(t, "user "+redaction.Hidden, rules.Text("user AKIAIOSFODNN7EXAMPLE", 99))
}

// What is no secret stays.
func TestHarmlessTextIsNotRedacted(t *testing.T) {
	rules := redaction.New(nil)
	for _, text := range []string{
		"collect at job.py:12", "SELECT key, count(*) FROM t WHERE key = 5", "hdfs://ns1:8020/x", "spark://10.0.0.1:7077", "http://[::1]:80/",
		"count tokens of s3://bucket/key", "Scan parquet db.t", "basic authentication", "decode=1",
	} {
		require.Equal(t, text, rules.Text(text, 4096))
	}
}

func TestProperties(t *testing.T) {
	rules := redaction.New(map[string]string{"spark.redaction.regex": "(?i)salt"})
	for name, want := range map[string]bool{
		"spark.app.name": false, "spark.hadoop.fs.s3a.access.key": true, "spark.sql.keyspace": false, "x.key": true, "my.salt": true,
		"db.PASSWORD": true, "javax.net.ssl.trustStore": false, "spark.executorEnv.API_KEY": true, "aws.credentials": true,
	} {
		value, hidden := rules.Property(name, "v")
		require.Equal(t, want, hidden, name)
		require.Equal(t, want, value != "v", name)
	}
	value, hidden := rules.Property("sun.java.command", "org.apache.Main --password hunter --name x")
	require.True(t, hidden)
	require.Equal(t, "org.apache.Main --password "+redaction.Hidden+" --name x", value)
	_, hidden = rules.Property("spark.x", redaction.Hidden)
	require.True(t, hidden, "Spark hid it")
}

// The application's own patterns work besides, and hide all if Go does not know them.
func TestPatternsOfTheApplication(t *testing.T) {
	text := func(property, pattern, text string) string {
		return redaction.New(map[string]string{property: pattern}).Text(text, 99)
	}
	require.Equal(t, "card "+redaction.Hidden, text("spark.redaction.string.regex", "[0-9]{4}-[0-9]{4}", "card 1234-5678"))
	require.Equal(t, "salt: "+redaction.Hidden, text("spark.redaction.regex", "(?i)salt", "salt: 99"))
	require.Equal(t, "password="+redaction.Hidden, text("spark.redaction.regex", "(?i)salt|password", "password=99"))
	require.Equal(t, redaction.Hidden, text("spark.redaction.regex", "(?<!x)y", "anything"))
	require.Equal(t, strings.Repeat("ä", 99), text("x", "y", strings.Repeat("ä", 300)))
}

// The spans of a driver, and of its log when it is imported, are the same to the byte.
func TestSparkRules(t *testing.T) {
	text := func(properties map[string]string, text string) string {
		return redaction.SparkRules(properties).Text(text, 99)
	}
	require.Equal(t, "token: "+redaction.Hidden+" and --password x", text(nil, "token: abc and --password x"))
	pin := map[string]string{"spark.redaction.regex": "pin"}
	require.Equal(t, "pin="+redaction.Hidden+" and password=x", text(pin, "pin=1 and password=x"))
	require.Equal(t, redaction.Hidden, text(map[string]string{"spark.redaction.string.regex": "(?<!x)y"}, "anything"))
}

func FuzzText(f *testing.F) {
	f.Add("password=x", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, 0), 1<<10)
		rules := redaction.New(nil)
		require.LessOrEqual(t, len([]rune(rules.Text(text, limit))), limit)
		rules.Property("name", text)
	})
}
