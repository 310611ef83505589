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
	Users     []User   // accounts beside root
	Hosts     map[string][]string
	Env       map[string]string // environment of everything that runs here
	Metadata  Metadata
	OneUser   bool // no other ids can be had: every account is root's
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

// Metadata is what the instance metadata service answers (IMDSv2).
type Metadata struct {
	InstanceID, InstanceType, Region, Zone, AccountID string
	RoleName                                          string // role of the instance profile; empty for none
	AccessKeyID, SecretAccessKey                      string // credentials of that role
}

// Exec asks for one program to be run to its end.
type Exec struct {
	Argv   []string
	Env    map[string]string // over the machine's
	Dir    string
	User   string // account name, or uid:gid; empty is root
	Stdout string // file in the machine; appended to, empty keeps the tail
	Stderr string
}

// ExecResult is how a program ended.
type ExecResult struct {
	ExitCode int    // 128+signal when killed
	Tail     string // last 8 KiB of what was not sent to files
}

// UnitStart asks for a unit to be started. Env is kept in memory only, so it may
// hold secrets; a start by systemctl has none of it.
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
