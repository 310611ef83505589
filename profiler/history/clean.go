package history

import (
	"errors"
	"regexp"
)

// What of a URL is or may be a secret: the query (presigned URLs), and a user with a
// password.
var (
	query    = regexp.MustCompile(`\?[^\s"'<>]+`)
	userinfo = regexp.MustCompile(`//[^/\s"'@]+@`)
)

// clean removes the secrets of URLs from a text.
func clean(text string) string {
	return query.ReplaceAllString(userinfo.ReplaceAllString(text, "//"), "?…")
}

// cleaned returns an error whose text has no secrets of URLs. What it wraps can be
// tested with errors.Is and errors.As, but only its own text is ever printed.
func cleaned(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if safe := clean(text); safe != text {
		return &safeError{text: safe, err: err}
	}
	return err
}

type safeError struct {
	text string
	err  error
}

func (e *safeError) Error() string        { return e.text }
func (e *safeError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *safeError) As(target any) bool   { return errors.As(e.err, target) }
