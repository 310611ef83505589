package workloads

import (
	"fmt"
	"time"

	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/certificate"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// certificates are those of the servers that operators use.
type certificates struct {
	of         func(platform.Workload) (certificate.Certificate, error)
	trusted    pulumi.StringOutput // PEM; what their clients trust
	serverName string              // in all of them; "" = each has its workload's name
}

// certificates returns the given certificate, for every server, or creates a CA that
// signs one for each.
func (o objects) certificates(args *Args) (certificates, error) {
	if own := args.Certificate; own != nil {
		given := certificate.Certificate{
			Cert: pulumi.String(own.Chain).ToStringOutput(), Key: output.Secret(pulumi.String(string(own.Key))),
		}
		return certificates{
			of: func(platform.Workload) (certificate.Certificate, error) { return given, nil },
			// The chain may lack its root, and the machine that runs the program may not
			// have a private one. Go accepts any certificate of a pool as trusted.
			trusted: given.Cert, serverName: own.Domain,
		}, nil
	}
	// Its names are Grafana's, which was the first of the servers.
	ca, err := certificate.CreateCA(o.Builder, certificate.CASpec{Role: "grafana-ca", CommonName: platform.Name + " grafana"})
	if err != nil {
		return certificates{}, err
	}
	ips := args.certificateIPs()
	return certificates{trusted: ca.Cert, of: func(w platform.Workload) (certificate.Certificate, error) {
		return certificate.CreateLeaf(o.Builder, ca, serverCertificate(w, ips))
	}}, nil
}

// serverName is the name in every server's certificate; "" = each has its own.
func (a *Args) serverName() string {
	if a.Certificate == nil {
		return ""
	}
	return a.Certificate.Domain
}

// warnOfExpiry logs that the given certificate expires soon.
func (a *Args) warnOfExpiry(ctx *pulumi.Context, w *Workloads) error {
	if a.Certificate == nil {
		return nil
	}
	end := a.Certificate.Expires()
	if time.Until(end) > certificate.Renewal {
		return nil
	}
	err := ctx.Log.Warn(fmt.Sprintf("controlNode.certificate: expires on %s: renew it, and set chain and key again",
		end.Format(time.DateOnly)), &pulumi.LogArgs{Resource: w})
	if err != nil {
		return fmt.Errorf("warn of a certificate's end: %w", err)
	}
	return nil
}

// serverCertificate is valid for the addresses that operators use, and for the
// names that other pods and a tunnel use.
func serverCertificate(w platform.Workload, ips pulumi.StringArrayInput) certificate.LeafSpec {
	return certificate.LeafSpec{
		Stem: string(w), Role: string(w) + "-certificate",
		Subject: tls.CertRequestSubjectArgs{CommonName: pulumi.String(w)},
		DNS:     []string{string(w), "localhost"},
		IPs:     ips,
		Uses:    []string{"digital_signature", "key_encipherment", "server_auth"},
	}
}
