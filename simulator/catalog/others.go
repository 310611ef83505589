package catalog

import (
	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"
)

// commandTypes lists the resource types of the command package by token.
func commandTypes() map[string]Type {
	return map[string]Type{"command:local:Command": typ(local.CommandArgs{}, nil)}
}

// randomTypes lists the resource types of the random package.
func randomTypes() []Type {
	return []Type{
		typ(random.RandomPasswordArgs{}, random.RandomPasswordState{}),
		typ(random.RandomIdArgs{}, random.RandomIdState{}),
	}
}

// tlsTypes lists the resource types of the tls package.
func tlsTypes() []Type {
	return []Type{
		typ(tls.PrivateKeyArgs{}, tls.PrivateKeyState{}),
		typ(tls.SelfSignedCertArgs{}, tls.SelfSignedCertState{}, "allowedUses"),
		typ(tls.CertRequestArgs{}, tls.CertRequestState{}),
		typ(tls.LocallySignedCertArgs{}, tls.LocallySignedCertState{}, "allowedUses"),
	}
}

// grafanaTypes lists the resource types of open-source Grafana.
func grafanaTypes() []Type {
	return []Type{
		typ(oss.DashboardArgs{}, oss.DashboardState{}),
		typ(oss.DataSourceArgs{}, oss.DataSourceState{}),
		typ(oss.FolderArgs{}, oss.FolderState{}),
	}
}
