package machine

// Spec describes a machine before it boots.
type Spec struct {
	Name      string   // unique in the region; names its folder
	Hostname  string   // ip-10-0-1-11
	Domain    string   // ec2.internal; empty for pods
	Addresses []string // CIDR form, first is the primary
	Gateway   string   // default route; empty for none
	Root      string   // folder on the host that becomes /
	Binds     []Bind   // in order
	Users     []User   // accounts besides root
	Hosts     map[string][]string
	Env       map[string]string // environment of everything that runs here
	Metadata  Metadata
	// SingleUID is set by a region whose user namespace maps only uid 0: every account
	// has that uid, and every process appears as the first of Users.
	SingleUID bool
}

// Bind makes a host path visible in the machine.
type Bind struct {
	From, To string
	ReadOnly bool
}

// User is an account of the machine.
type User struct {
	Name   string
	UID    int
	GID    int
	Home   string
	Groups []string
}

// Metadata is what the instance metadata service (IMDSv2) returns.
type Metadata struct {
	InstanceID, InstanceType, Region, Zone, AccountID string
	Profile                                           string // instance profile, by name or ARN; empty for none
	RoleCredentials
}

// RoleCredentials are those of an instance profile's role; empty without one.
type RoleCredentials struct{ RoleName, AccessKeyID, SecretAccessKey string }

// Exec is a request to run one program to its end.
type Exec struct {
	Argv   []string
	Env    map[string]string // overrides the machine's
	Dir    string
	User   string // account name, or uid:gid; empty is root
	Stdout string // file in the machine to append to; empty: in ExecResult.Tail
	Stderr string // likewise
}

// ExecResult is the outcome of a program that ran.
type ExecResult struct {
	ExitCode int    // 128+signal when killed
	Tail     string // last 8 KiB of the output that was not sent to files
}

// UnitStart is a request to start a unit. Env is kept in memory only, so it may
// hold secrets; a start by systemctl has an empty Env.
type UnitStart struct {
	Name string
	Env  map[string]string
}

// Unit is a systemd unit's state.
type Unit struct {
	Name     string
	Active   bool
	PID      int
	Restarts int
	Result   string // why it is not active
}
