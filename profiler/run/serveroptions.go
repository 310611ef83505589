package run

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// ServeOptions are those of serve alone. The interval has no shorter unit than a minute, which
// keeps a mistake from overloading EMR's API.
func ServeOptions() []Option {
	return []Option{
		{
			Name: "interval_minutes", Default: "60", Doc: "Time between the starts of two runs of serve.",
			Rule: "must be a whole number of minutes, 1 or more", set: func(o *Options, s string) bool {
				n, ok := parseWhole(s, 1)
				o.Interval = time.Duration(n) * time.Minute
				return ok
			},
		},
		text("listen_address", fmt.Sprintf("%s:%d", platform.Loopback, platform.Profiler),
			"Address on which serve listens: state of the last run, /metrics, /healthz.", "must be host:port", isAddress,
			func(o *Options) *string { return &o.Listen }),
		text("password_file", "", "File with the password of the user "+platform.StatusUser+", who may have serve read one cluster at once; "+
			"without it nobody may.", "", nil, func(o *Options) *string { return &o.PasswordFile }),
	}
}

// ToolOptions are those of tools alone: without an address it serves on standard input and output.
func ToolOptions() []Option {
	return []Option{
		text("tools_address", "", "Address on which tools listens for streamable HTTP with TLS; without one it serves on standard input and "+
			"output.", "must be host:port", func(s string) bool { return s == "" || isAddress(s) },
			func(o *Options) *string { return &o.Tools.Address }),
		text("tools_url", "", "URL of a server of the tools over HTTP, which tools passes on to standard input and output: a stack's output "+
			"toolsUrl.", "", nil, func(o *Options) *string { return &o.Tools.URL }),
		text("ca_certificate_file", "", "PEM file with the CA of that server: a stack's output caCertificate. Empty: this machine's CAs.", "",
			nil, func(o *Options) *string { return &o.Tools.CACertificateFile }),
		text("token_file", "", "File with the bearer token of those who may use the tools over HTTP: 16 bytes or more.", "", nil,
			func(o *Options) *string { return &o.Tools.TokenFile }),
		text("certificate_file", "", "PEM file with the certificate of the tools over HTTP; without one the address must be a loopback one.", "",
			nil, func(o *Options) *string { return &o.Tools.CertificateFile }),
		text("key_file", "", "PEM file with the key of that certificate.", "", nil,
			func(o *Options) *string { return &o.Tools.KeyFile }),
	}
}

// ToolServer says how the tools are served over HTTP.
type ToolServer struct {
	Address                             string // host:port; "" for standard input and output
	TokenFile, CertificateFile, KeyFile string

	URL               string // of another server, whose tools are passed on; "" for own ones
	CACertificateFile string // of that server
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	number, failed := strconv.ParseUint(port, 10, 16)
	return err == nil && failed == nil && number > 0
}
