package s3

import "time"

// PropagationDelay is how long other services do not see an instance profile after IAM has set
// its role. On AWS it is seconds, at times more.
const PropagationDelay = 3 * time.Second

// Propagated reports whether other services see an instance profile with its role. A process
// that has just started treats all that it finds as propagated.
func (r *Roles) Propagated(profile string) bool {
	r.accountMu.Lock()
	defer r.accountMu.Unlock()
	return r.account.Profiles[profile] != "" && r.options.Clock.Since(r.changed[profile]) >= PropagationDelay
}
