package schema

// IsSupportedRelease reports whether the platform observes clusters of an EMR release.
func IsSupportedRelease(label string) bool { return isSupportedRelease(label) }

// OldestRelease returns the label of the oldest supported EMR release.
func OldestRelease() string { return oldestRelease().label() }
