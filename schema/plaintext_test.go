package schema_test

import (
	"testing"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// keyID is the id of an access key in AWS's documentation.
const keyID = "AKIAIOSFODNN7EXAMPLE"

func TestSecretsInClear(t *testing.T) {
	properties := func(name, value string) func(*violation.List) {
		return func(l *violation.List) {
			schema.CheckSecretProperties(l, schema.Settings(map[string]map[string]string{"hive-site": {name: value}}))
		}
	}
	arguments := func(args ...string) func(*violation.List) {
		return func(l *violation.List) { schema.CheckSecretArguments(l, "steps[0].args", args) }
	}
	property := func(name string) []string {
		return []string{"hive-site." + name + ": [hidden] must not be a secret: DescribeCluster shows it to anyone who may read the cluster; " +
			"read it from Secrets Manager in the job"}
	}
	argument := func(i string) []string {
		return []string{"steps[0].args[" + i + "]: [hidden] must not be a secret: DescribeCluster shows it to anyone who may read the cluster; " +
			"name the secret's ARN instead, and read it from Secrets Manager"}
	}
	runFactCases(t, []factCase{
		{"property by its name", properties("hive.x.password", "hunter2"), property("hive.x.password"), nil},
		{"property by its value", properties("hive.x", keyID), property("hive.x"), nil},
		{"option of a JVM", properties("spark.driver.extraJavaOptions", "-Xmx1g -Dx.password=hunter2"),
			property("spark.driver.extraJavaOptions"), nil},
		{"parameter of a URL", properties("hive.x", "jdbc:postgresql://h/db?user=a&password=hunter2"), property("hive.x"), nil},
		{"pattern of names", properties("spark.redaction.regex", "(?i)secret|password|token"), nil, nil},
		{"key of a storage account", properties("spark.hadoop.fs.azure.account.key.acct.dfs.core.windows.net", "hunter2=="),
			property("spark.hadoop.fs.azure.account.key.acct.dfs.core.windows.net"), nil},
		{"secret inside a name", properties("fs.azure.account.oauth2.client.secret.acct.dfs.core.windows.net", "hunter2"),
			property("fs.azure.account.oauth2.client.secret.acct.dfs.core.windows.net"), nil},
		{"password of a keystore of Trino", properties("http-server.https.keystore.key", "hunter2"),
			property("http-server.https.keystore.key"), nil},
		{"key of the client side", properties("fs.s3a.encryption.key", "hunter2"), property("fs.s3a.encryption.key"), nil},
		{"key of KMS", properties("fs.s3a.encryption.key", "0123abcd-0123-0123-0123-0123456789ab"), nil, nil},
		{"variable of a shell", properties("AWS_SECRET_ACCESS_KEY", "hunter2"), property("AWS_SECRET_ACCESS_KEY"), nil},
		{"short word", properties("db.pass", "hunter2"), property("db.pass"), nil},
		{"login module", properties("kafka.sasl.jaas.config", `x required username="a" password="hunter2";`),
			property("kafka.sasl.jaas.config"), nil},
		{"JSON", properties("hive.x", `{"password": "hunter2"}`), property("hive.x"), nil},
		{"user and password of a URL", properties("hive.x", "mongodb://u:hunter2@db/x"), property("hive.x"), nil},
		{"user and password of Oracle", properties("hive.x", "jdbc:oracle:thin:scott/hunter2@//db:1521/x"), property("hive.x"), nil},
		{"signature of a URL", properties("hive.x", "https://a.blob.core.windows.net/c?sv=1&sig=hunter2"), property("hive.x"), nil},
		{"token of GitHub", properties("hive.x", "ghp_abcdefghij0123456789"), property("hive.x"), nil},
		{"ARN of a secret", properties("app.db.secret", "arn:aws:secretsmanager:us-east-1:123456789012:secret:db-AbCdEf"), nil, nil},
		{"file of a secret", properties("hadoop.http.authentication.signature.secret.file", "/etc/secret"), nil, nil},
		{"class for tokens", properties("fs.azure.sas.token.provider.type.acct.dfs.core.windows.net", "org.example.Tokens"), nil, nil},
		{"seconds of a token", properties("yarn.resourcemanager.delegation.token.max-lifetime", "604800000"), nil, nil},
		{"name of Hive's own", properties("hive.metastore.token.signature", "x"), nil, nil},
		{"algorithm", properties("fs.s3a.encryption.algorithm", "SSE-KMS"), nil, nil},
		{"mechanism of tokens", properties("spark.kafka.clusters.x.sasl.token.mechanism", "SCRAM-SHA-512"), nil, nil},
		{"pattern for users", properties("http-server.authentication.password.user-mapping.pattern", "(.*)@x"), nil, nil},
		{"container of Azure", properties("hive.x", "abfss://container-with-a-long-name@acct.dfs.core.windows.net/x"), nil, nil},
		{"words, not tokens", properties("app.tokenizer.model", "words"), nil, nil},
		{"no password in a URL", properties("hive.x", "hdfs://nn:8020/a@b s3://b/x:y@z git@github.com:a/b"), nil, nil},
		{"variable in a URL", properties("hive.x", "https://bot:${TOKEN}@github.com/x"), nil, nil},
		{"other property", properties("hive.metastore.uris", "thrift://x:9083"), nil, nil},
		{"one word", arguments("s3://b/job.py", "--password=hunter2"), argument("1"), nil},
		{"property in a word", arguments("--conf", "spark.driver.extraJavaOptions=-Dx.password=hunter2"), argument("1"), nil},
		{"parameter in a word", arguments("jdbc:mysql://h/db?password=hunter2"), argument("0"), nil},
		{"two words", arguments("--db-password", "hunter2"), argument("1"), nil},
		{"key id", arguments("-e", "AWS_ACCESS_KEY_ID="+keyID), argument("1"), nil},
		{"URL of a repository", arguments("https://bot:hunter2@github.com/x/y.git"), argument("0"), nil},
		{"token alone in a URL", arguments("https://glpat-0123456789abcdefghij@gitlab.com/x"), argument("0"), nil},
		{"header", arguments("-H", "Authorization: Bearer abcdefghijklmnop0123"), argument("1"), nil},
		{"command that fetches it", arguments("bash", "-c", "export TOKEN=$(aws secretsmanager get-secret-value --secret-id x)"), nil, nil},
		{"ARN in two words", arguments("--db-secret", "arn:aws:secretsmanager:us-east-1:123456789012:secret:db-AbCdEf"), nil, nil},
		{"ARN in one word", arguments("--db-secret=arn:aws:secretsmanager:us-east-1:123456789012:secret:db-AbCdEf"), nil, nil},
		{"word that is like one", arguments("--token-bucket", "prod"), nil, nil},
		{"flag without a value", arguments("--password-file", "s3://b/x", "--no-password"), nil, nil},
		{"reference to a secret", arguments("--secret-arn", "arn:aws:secretsmanager:us-east-1:1:secret:x"), nil, nil},
	})
}
