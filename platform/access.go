package platform

import (
	"net/url"
	"strings"
)

// AccessSecret names the Secret with a workload's certificate and password.
func AccessSecret(w Workload) string { return string(w) + "-access" }

// Keys of an AccessSecret.
const (
	AccessCertificate = "tls.crt"
	AccessKey         = "tls.key"
	AccessCACert      = "ca.crt"      // what clients trust
	AccessServerName  = "server-name" // in AccessCertificate; absent = the workload's name
	AccessPassword    = "password"
)

// Users of the servers that operators open.
const (
	StatusUser  = Name    // the status server's only one
	GrafanaUser = "admin" // Grafana's administrator
)

// Names of an EMR cluster's web pages in a ServicesHeader.
const (
	ServiceResourceManager = "resourcemanager"
	ServiceSparkHistory    = "history"
)

// ServiceConsole is the AWS Management Console, in links of the status page.
const ServiceConsole = "aws-console"

// ServicesHeader is set by a forwarder in front of the status server. It lists the
// URLs at which its clients reach other services, as EncodeServices writes them.
const ServicesHeader = "Observatory-Services"

// AbsentHeader is set by the same forwarder. It lists the workloads that do not run
// where the status server runs, as EncodeAbsent writes them.
const AbsentHeader = "Observatory-Absent"

// EncodeServices writes URLs by service for ServicesHeader.
func EncodeServices(urls map[string]string) string { return encodeHeader(urls) }

// EncodeAbsent writes reasons by workload for AbsentHeader.
func EncodeAbsent(reasons map[string]string) string { return encodeHeader(reasons) }

func encodeHeader(pairs map[string]string) string {
	values := url.Values{}
	for name, value := range pairs {
		values.Set(name, value)
	}
	return values.Encode()
}

// DecodeAbsent reads an AbsentHeader.
func DecodeAbsent(header string) map[Workload]string {
	reasons := map[Workload]string{}
	values, err := url.ParseQuery(header)
	if err != nil {
		return reasons
	}
	for name := range values {
		reasons[Workload(name)] = values.Get(name)
	}
	return reasons
}

// DecodeServices reads a ServicesHeader. It leaves out what is no http(s) URL.
func DecodeServices(header string) map[string]string {
	urls := map[string]string{}
	values, err := url.ParseQuery(header)
	if err != nil {
		return urls
	}
	for name := range values {
		u, err := url.Parse(values.Get(name))
		if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			urls[name] = strings.TrimSuffix(u.String(), "/")
		}
	}
	return urls
}

// Environment of Grafana: the folder of its plugins, and those that it installs there
// before it serves.
const (
	EnvGrafanaPlugins    = "GF_PATHS_PLUGINS"
	EnvGrafanaPreinstall = "GF_PLUGINS_PREINSTALL_SYNC"
)
