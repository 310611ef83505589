// A module of its own, so that what it takes prices from never enters the program's
// module. The libraries are not required here: the tool reads one file of each and
// compiles nothing of them (sources.go has versions and checksums, and the reason).
module github.com/emr-observatory/emr-observatory/schema/facts/refresh/prices

go 1.26.0

require github.com/emr-observatory/emr-observatory v0.0.0

replace github.com/emr-observatory/emr-observatory => ../../../..
