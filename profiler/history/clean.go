package history

import (
	"errors"
	"regexp"
)

// Parts of a URL that may be secret: the query (presigned URLs), and the user with a
// password.
var (
	query    = regexp.MustCompile(`\?[^\s"'<>]+`)
	userinfo = regexp.MustCompile(`//[^/\s"'@]+@`)
)

// clean removes the secrets of URLs in a text.
func clean(text string) string {
	return query.ReplaceAllString(userinfo.ReplaceAllString(text, "//"), "?…")
}

// cleaned returns an error without the secrets of URLs in its text. errors.Is and errors.As
// still see the wrapped error, but its text is never printed.
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
