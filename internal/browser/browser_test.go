package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/browser"
)

// defects records what Examine finds.
type defects struct {
	testing.TB
	found []string
}

func (d *defects) Helper() {}

func (d *defects) Errorf(format string, args ...any) {
	d.found = append(d.found, fmt.Sprintf(format, args...))
}

func TestExamineReportsLayoutAndFocusFaults(t *testing.T) {
	pages := map[string]string{
		"/good":    `<a href="/one">One</a> <div tabindex="0">region</div> <a href="/two" aria-label="Second">Two</a>`,
		"/wide":    `<a href="/one">One</a><pre>` + strings.Repeat("x", 500) + `</pre>`,
		"/scrolls": `<a href="/one">One</a><pre style="overflow-x: auto">` + strings.Repeat("x", 500) + `</pre>`,
		"/hidden":  `<a href="/one">One</a> <a href="/two" tabindex="-1">Two</a>`,
		"/order":   `<a href="/one" tabindex="2">One</a> <a href="/two" tabindex="1">Two</a>`,
		"/unseen":  `<style>a:focus { outline: none }</style><a href="/one">One</a>`,
		"/outside": `<a href="/one" style="position: absolute; left: -999px">One</a>`,
		"/error":   `<a href="/one">One</a><script>console.error("broken", 7)</script>`,
		"/thrown":  `<a href="/one">One</a><script>throw new Error("broken")</script>`,
		"/missing": `<a href="/one">One</a><img src="/nothing" alt="">`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := pages[r.URL.Path]
		if !known || r.Header.Get("Extra") != "given" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<!DOCTYPE html><html lang="en"><link rel="icon" href="data:,"><title>x</title><body>`+body)
	}))
	t.Cleanup(server.Close)
	chromium := browser.Start(t)
	for path, want := range map[string]string{
		"/good": "", "/scrolls": "", "/wide": `because of ["<pre>xxx`, "/hidden": `does not reach the link "Two"`,
		"/order": `before the link "One"`, "/unseen": "it has no outline", "/outside": "outside the window",
		"/error": "broken", "/thrown": "broken", "/missing": "404",
	} {
		d := &defects{TB: t}
		links := chromium.Examine(d, server.URL+path, 360, http.Header{"Extra": {"given"}})
		if want == "" {
			require.Empty(t, d.found, path)
		} else {
			require.Len(t, d.found, 1, path)
			require.Contains(t, d.found[0], want, path)
		}
		require.Equal(t, browser.Link{Name: "One", Text: "One", URL: server.URL + "/one"}, links[0], path)
		if path == "/good" {
			require.Equal(t, browser.Link{Name: "Second", Text: "Two", URL: server.URL + "/two"}, links[1])
		}
	}
}
