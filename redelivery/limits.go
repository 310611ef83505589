package redelivery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/emr-observatory/emr-observatory/redelivery/limit"
)

// maxSendersBytes is more than the addresses of all nodes that an account runs.
const maxSendersBytes = 8 << 20

// setSenders takes which cluster each address belongs to, as a JSON object of ids by address; it
// replaces all that was known.
func (d *Redelivery) setSenders(w http.ResponseWriter, r *http.Request) {
	clusters := map[netip.Addr]string{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSendersBytes)).Decode(&clusters); err != nil {
		http.Error(w, fmt.Sprintf("senders: %v: must be an object of clusters' ids by address", err), http.StatusBadRequest)
		return
	}
	d.limiter.SetSenders(clusters)
}

// limit leaves out of a request what its clusters may not have stored now. The body is nil if
// nothing is left.
func (s *store) limit(r *request) (admitted limit.Admission, err error) {
	if s.signal == "" {
		return admitted, nil
	}
	err = s.packing.unpack(r.header, r.body, func(body []byte) {
		admitted = s.limiter.Admit(s.signal, body)
		if admitted.Whole {
			return
		}
		if r.body = nil; admitted.Body != nil {
			r.body = s.packing.pack(admitted.Body)
			r.header.Set("Content-Encoding", encodingZstd)
		}
	})
	admitted.Body = nil // its memory is another request's now
	if err != nil {
		return admitted, fmt.Errorf("read a request to %s: %w", s.name, err)
	}
	return admitted, nil
}
