package violation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func TestListJoinsViolationsInOrder(t *testing.T) {
	var l violation.List
	require.NoError(t, l.Err())
	l.Require(true, "a", 1, "must be 1", "set it")
	require.NoError(t, l.Err())
	l.Require(false, "a.c[0]", []string{"<x>"}, "must be empty", "remove it")
	l.Require(false, "a.b", 2, "must be 1", "")
	const first = "a.b: 2 must be 1; set it with `pulumi config set --path 'emr-observatory:a.b' …`"
	require.EqualError(t, l.Err(), first+"\na.c[0]: [\"<x>\"] must be empty; remove it")
	var v violation.Violation
	require.ErrorAs(t, l.Err(), &v)
	require.Equal(t, "a.b", v.Path)
}

func TestLongValuesAreShortened(t *testing.T) {
	var l violation.List
	l.Require(false, "p", strings.Repeat("ü", 500), "r", "m")
	require.Less(t, len([]rune(l.Err().Error())), 100)
	require.ErrorContains(t, l.Err(), "…")
}

func TestPlaceholdersReplaceValues(t *testing.T) {
	var l violation.List
	l.Require(false, "p", violation.Hidden, "r", "m")
	require.EqualError(t, l.Err(), "p: [hidden] r; m")
}

func TestSecretsAreNotShown(t *testing.T) {
	var l violation.List
	l.Require(false, "p", "x\n-----BEGIN EC PRIVATE KEY-----\nhunter2", "r", "m")
	l.Hide("q")
	for _, below := range []string{"q", "q.key", "q[0]"} {
		l.Require(false, below, "hunter2", "r", "m")
	}
	l.Require(false, "qq", "shown", "r", "m")
	require.EqualError(t, l.Err(), "p: [hidden] r; m\nq.key: [secret] r; m\nq: [secret] r; m\nq[0]: [secret] r; m\nqq: \"shown\" r; m")
}

func TestCredentialsAreNotShown(t *testing.T) {
	for _, value := range []string{"s3://x:hunter2@bucket/y", "AKIAIOSFODNN7EXAMPLE"} {
		var l violation.List
		l.Require(false, "p", value, "r", "m")
		require.EqualError(t, l.Err(), "p: [hidden] r; m")
	}
}

func TestTakeRecordsWhatIsBelowAPath(t *testing.T) {
	l, other := violation.List{Prefix: "n:"}, violation.List{Prefix: "n:"}
	for _, path := range []string{"a[0]", "a[0].b", "a[01]", "b"} {
		other.Require(false, path, "x", "r", "m")
		other.Warn(false, path, "x", "w", "m")
	}
	l.Hide("a[0].b")
	l.Take(&other, "a[0]")
	require.EqualError(t, l.Err(), "n:a[0].b: [secret] r; m\nn:a[0]: \"x\" r; m")
	require.Len(t, l.Warnings(), 2)
}

func TestShownValuesBelowAHiddenPath(t *testing.T) {
	var l violation.List
	l.Hide("q")
	l.Show("q.host")
	l.Require(false, "q.host", "h.example.com", "r", "m")
	l.Require(false, "q.hosts", "hunter2", "r", "m")
	l.Require(false, "sealed", string(violation.Secret), "r", "m")
	require.EqualError(t, l.Err(), "q.host: \"h.example.com\" r; m\nq.hosts: [secret] r; m\nsealed: [secret] r; m")
}

func TestUnreadableValuesAreNotCheckedAgain(t *testing.T) {
	l := violation.List{Prefix: "observatory:"}
	l.Unreadable("a.b", "x", "must be an integer", "m")
	for _, below := range []string{"a.b", "a.b.c", "a.b[0]"} {
		l.Require(false, below, "x", "r", "m")
	}
	l.Require(false, "a.bc", "x", "r", "m")
	found := violation.All(fmt.Errorf("read: %w", errors.Join(errors.New("else"), l.Err())))
	require.Len(t, found, 2)
	require.Equal(t, "observatory:a.b", found[0].Path)
	require.Equal(t, "observatory:a.bc", found[1].Path)
}

func TestWarningsRefuseNothing(t *testing.T) {
	l := violation.List{Prefix: "observatory:"}
	l.Warn(true, "a", 1, "r", "m")
	l.Warn(false, "b", 2, "should be 1", "")
	l.Warn(false, "a", 1, "should be 2", "m")
	l.Unreadable("c", "x", "r", "m")
	l.Warn(false, "c.d", 3, "r", "m")
	require.Len(t, violation.All(l.Err()), 1)
	require.Equal(t, []string{
		"observatory:a: 1 should be 2; m",
		"observatory:b: 2 should be 1; " + violation.SetRemedy("b"),
	}, []string{l.Warnings()[0].Error(), l.Warnings()[1].Error()})
	require.Len(t, l.Warnings(), 2)
}
