package schema

import (
	"encoding/json"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Secret is a value that is shown nowhere: it formats as [secret].
type Secret string

// Sealed stands for a secret that a stack file holds encrypted, where nobody
// decrypts it: in a rehearsal.
const Sealed = Secret(violation.Secret)

// String hides the value from every format verb.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return string(violation.Secret)
}

// GoString does the same for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalJSON does the same for JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }
