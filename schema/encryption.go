package schema

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// httpsDaemons is the first release that moves the web endpoints of YARN and HDFS to
// HTTPS with encryption in transit (EMR Management Guide, "Understanding in-transit
// encryption").
const httpsDaemons = "emr-7.3.0"

func encryptionRules() map[string]Rule {
	archive := pattern(`^s3://`+bucketPattern+`/[^*?"'$[:cntrl:]]{1,500}\.zip$`,
		"an s3:// URI that ends with .zip, "+bucketText).ofBucket().optional()
	return map[string]Rule{
		"certificates": archive.with("", "put privateKey.pem, certificateChain.pem and, if need be, trustedCertificates.pem into a zip file, "+
			"upload it, and write s3://bucket/key.zip"),
	}
}

// Encryption is what a cluster encrypts besides every disk and the data bucket, which are
// always encrypted.
type Encryption struct {
	Certificates string `json:"certificates" rule:"certificates"`
}

// Help describes the keys, for documents.
func (Encryption) Help() map[string]string {
	return map[string]string{
		"certificates": "Zip file in S3 with PEM certificates, for encryption in transit. Nodes may read this file; " +
			"if a key of your own encrypts it, name that key in access.kmsKeys. Empty: traffic between nodes is not encrypted. " +
			"From " + httpsDaemons + " on, EMR then serves the metrics of YARN and HDFS over HTTPS, where the platform does not read them.",
	}
}

// Refused says of keys that EMR's security configurations have why this one has not.
func (Encryption) Refused() map[string]decode.Refusal {
	atRest := decode.Refusal{Rule: "is no key: the stack has one key, which encrypts the data bucket and every disk; other buckets " +
		"keep their own encryption",
		Remedy: "remove it; name the keys of other data that jobs use in access.kmsKeys"}
	return map[string]decode.Refusal{
		"kmsKey": atRest, "kmsKeyArn": atRest, "awsKmsKey": atRest, "atRest": atRest, "atRestEncryptionConfiguration": atRest,
		"s3": atRest, "s3EncryptionConfiguration": atRest, "localDisk": atRest, "localDiskEncryptionConfiguration": atRest,
		"inTransitEncryptionConfiguration": {Rule: "is no key: the certificates alone turn it on", Remedy: "use certificates"},
	}
}

// InTransit reports whether EMR encrypts traffic between nodes.
func (e Encryption) InTransit() bool { return e.Certificates != "" }

func (c Cluster) checkEncryption(l *violation.List, path string) {
	checkFields(l, path, c.Encryption)
	checkPolicyText(l, path+".certificates", c.Encryption.Certificates, "rename the object, or its folder")
	if !c.Encryption.InTransit() || !c.isFrom(httpsDaemons) {
		return
	}
	at, value := path+".certificates", c.Encryption.Certificates
	l.Warn(false, at, value, "should be empty where metrics of YARN and HDFS are needed: from "+httpsDaemons+" on EMR serves them over "+
		"HTTPS, and the node's collector asks over HTTP", "do without them, or choose an earlier release")
	l.Warn(c.Kerberos == nil || !c.hasSpark() || !c.hasOwnMetastore(), at, value,
		"should not meet Kerberos and Hive's own metastore: from "+httpsDaemons+" on Spark cannot use it then (HIVE-16340)",
		"set hive.metastore.use.SSL to false in hive-site, or use glueCatalog")
}

// isFrom reports whether the cluster's release is this one or a later one.
func (c Cluster) isFrom(release string) bool {
	labels := releaseLabels()
	return slices.Contains(labels, c.ReleaseLabel) && slices.Index(labels, c.ReleaseLabel) >= slices.Index(labels, release)
}

// hasOwnMetastore reports whether Hive's metastore runs on the cluster, and speaks TLS.
func (c Cluster) hasOwnMetastore() bool {
	withoutTLS := slices.ContainsFunc(c.Configurations, func(o Configuration) bool {
		return o.Classification == classHiveSite && o.Properties["hive.metastore.use.SSL"] == "false"
	})
	return slices.Contains(c.Applications, "Hive") && !c.GlueCatalog && !withoutTLS
}
