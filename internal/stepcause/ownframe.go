package stepcause

import (
	"slices"
	"strings"
)

// libraryPackages are prefixes of JVM classes that no user writes: Java, Scala,
// Spark and Hadoop, the AWS SDKs and EMRFS, what Spark's JARs contain, and the
// agents of this platform.
var libraryPackages = []string{
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "scala.", "org.apache.", "org.sparkproject.", "py4j.",
	"com.amazonaws.", "com.amazon.", "software.amazon.", "io.netty.", "com.fasterxml.", "com.google.", "com.esotericsoftware.",
	"org.codehaus.", "org.json4s.", "net.jpountz.", "org.xerial.", "io.opentelemetry.", "io.pyroscope.",
}

// isOwnJVM reports whether a frame's method, "module/package.Class.method", is the user's.
func isOwnJVM(method string) bool {
	method = method[strings.LastIndexByte(method, '/')+1:]
	return !slices.ContainsFunc(libraryPackages, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

// libraryPaths are parts of paths of Python code that no user writes: PySpark and
// Py4J, also as Spark's ZIP files, installed packages and Python's own library.
var libraryPaths = []string{
	"/pyspark.zip/", "/pyspark/", "-src.zip/py4j/", "/py4j/", "/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python",
}

// isOwnPython reports whether a frame's file is the user's.
func isOwnPython(file string) bool {
	return !strings.HasPrefix(file, "<") && // frozen modules
		!slices.ContainsFunc(libraryPaths, func(part string) bool { return strings.Contains(file, part) })
}
