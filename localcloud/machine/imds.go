package machine

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// MetadataAddress is the instance metadata service's address on EC2.
const MetadataAddress = platform.InstanceMetadata

// serveMetadata starts a machine's metadata service.
func serveMetadata(s Spec) error {
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", MetadataAddress, platform.InstanceMetadataPort))
	if err != nil {
		return fmt.Errorf("serve instance metadata: %w", err)
	}
	address, _, _ := strings.Cut(s.Addresses[0], "/")
	service := &metadataService{
		meta: s.Metadata, hostname: s.Hostname, domain: s.Domain, address: address, tokens: map[string]time.Time{},
	}
	go func() { _ = (&http.Server{Handler: service, ReadHeaderTimeout: 5 * time.Second}).Serve(l) }()
	return nil
}

// metadataService serves IMDSv2: a token first, then paths. It refuses requests
// without a token, as instances with HttpTokens=required do.
type metadataService struct {
	meta     Metadata
	hostname string
	domain   string
	address  string
	mu       sync.Mutex
	tokens   map[string]time.Time
}

func (m *metadataService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/latest/api/token" {
		m.serveToken(w, r)
		return
	}
	m.mu.Lock()
	until, ok := m.tokens[r.Header.Get("X-aws-ec2-metadata-token")]
	m.mu.Unlock()
	if !ok || time.Now().After(until) {
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	body, ok := m.responses()[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/latest/"), "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write([]byte(body))
}

// serveToken issues a session token.
func (m *metadataService) serveToken(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	b := make([]byte, 20)
	_, _ = rand.Read(b)
	t := hex.EncodeToString(b)
	m.mu.Lock()
	m.tokens[t] = time.Now().Add(6 * time.Hour)
	m.mu.Unlock()
	w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
	_, _ = w.Write([]byte(t))
}

// responses returns the service's content by path.
func (m *metadataService) responses() map[string]string {
	fqdn := m.hostname + "." + m.domain
	doc, _ := json.Marshal(map[string]any{
		"accountId": m.meta.AccountID, "instanceId": m.meta.InstanceID, "instanceType": m.meta.InstanceType,
		"region": m.meta.Region, "availabilityZone": m.meta.Zone, "privateIp": m.address, "architecture": "x86_64",
	})
	a := map[string]string{
		"meta-data/instance-id":                 m.meta.InstanceID,
		"meta-data/instance-type":               m.meta.InstanceType,
		"meta-data/local-ipv4":                  m.address,
		"meta-data/local-hostname":              fqdn,
		"meta-data/hostname":                    fqdn,
		"meta-data/placement/region":            m.meta.Region,
		"meta-data/placement/availability-zone": m.meta.Zone,
		"dynamic/instance-identity/document":    string(doc),
	}
	if m.meta.RoleName != "" {
		cred, _ := json.Marshal(map[string]string{
			"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": time.Now().UTC().Format(time.RFC3339),
			"AccessKeyId": m.meta.AccessKeyID, "SecretAccessKey": m.meta.SecretAccessKey, "Token": "",
			"Expiration": time.Now().UTC().Add(6 * time.Hour).Format(time.RFC3339),
		})
		a["meta-data/iam/security-credentials"] = m.meta.RoleName
		a["meta-data/iam/security-credentials/"+m.meta.RoleName] = string(cred)
	}
	return a
}
