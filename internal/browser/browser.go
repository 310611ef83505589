// Package browser looks at a page as its readers do: it opens the page in headless
// Chromium and checks its width, its use by keyboard and its console. Only tests
// use it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

const (
	startTimeout = time.Minute     // Chromium's start on a busy machine
	pageTimeout  = 5 * time.Minute // one page with all its checks
	drawTimeout  = 3 * time.Minute
	height       = 800 // of the window: less than a page's, so that the focus has to scroll
)

// Link is a link of a page, as the browser has resolved it.
type Link struct {
	Name string `json:"name"` // as a screen reader says it
	Text string `json:"text"` // as it is shown
	URL  string `json:"url"`
}

// Browser is a headless Chromium.
type Browser struct{ ctx context.Context }

// Start starts a browser for the time of a test. Without Chromium the test is skipped;
// in CI it fails.
func Start(t testing.TB) Browser {
	t.Helper()
	program, err := doctor.FindChromium()
	testenv.Require(t, err == nil,
		"no Chromium is on PATH: nothing opens the status page in a browser; `make doctor` says how to install it")
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.NoSandbox, // with it Chromium does not start as root; the pages are the project's own
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(startTimeout))...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf))
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	return Browser{ctx}
}

// open opens a tab for as long as one page may take with all its checks.
func (b Browser) open(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	tab, end := chromedp.NewContext(b.ctx)
	if err := chromedp.Do(tab); err != nil { // without a timeout: it would be the tab's
		t.Fatalf("open a tab: %v", err)
	}
	limited, cancel := context.WithTimeout(tab, pageTimeout)
	return limited, func() { cancel(); end() }
}

// evaluate returns the value of a script.
func evaluate[T any](tab context.Context, t testing.TB, script string) T {
	t.Helper()
	value, err := chromedp.Run(tab, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("look at the page: %v", err)
	}
	return value
}

// Examine opens a page in a new tab of a width in pixels, with a header on every
// request, and fails the test unless the page fits into the width, the keyboard
// reaches every link in the order of the document with a visible focus, and the
// console has no error. It returns the links.
func (b Browser) Examine(t testing.TB, url string, width int64, header http.Header) []Link {
	t.Helper()
	tab, end := b.open(t)
	defer end()
	var console console
	headers := network.SetExtraHTTPHeadersParams{Headers: network.Headers{}}
	for name := range header {
		headers.Headers[name] = header.Get(name)
	}
	if err := chromedp.Listen(tab, console.note); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	response, err := chromedp.RunResponse(tab, chromedp.EmulateViewport(width, height), chromedp.Func(
		func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.SetExtraHTTPHeaders, headers)
			return err
		}), chromedp.Navigate(url))
	if err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	if response.Status != http.StatusOK {
		t.Fatalf("open %s: %d %s", url, response.Status, response.StatusText)
	}
	links := evaluate[[]Link](tab, t, linksScript)
	if found := evaluate[layout](tab, t, layoutScript); found.Content > found.Window {
		t.Errorf("%s at %d px: the content is %d px wide, because of %q", url, found.Window, found.Content, found.Wide)
	}
	if err := tabThrough(tab, links); err != nil {
		t.Errorf("%s at %d px: %v", url, width, err)
	}
	for _, entry := range console.read() {
		t.Errorf("%s at %d px: the console has an error: %s", url, width, entry)
	}
	return links
}

// Shows opens a page that scripts draw, and fails the test unless its text contains the
// given text within drawTimeout.
func (b Browser) Shows(t testing.TB, url, text string) {
	t.Helper()
	tab, end := b.open(t)
	defer end()
	if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	err := poll.Until(tab, poll.Options{Interval: 200 * time.Millisecond, Timeout: drawTimeout}, func(context.Context) error {
		if shown := evaluate[string](tab, t, `document.body.innerText`); !strings.Contains(shown, text) {
			return errors.New(shown)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s does not show %q: %v", url, text, err)
	}
}

// tabThrough presses the tab key until every link has had the focus.
func tabThrough(tab context.Context, links []Link) error {
	const otherStops = 50 // regions that scroll
	for next, stop := 0, 0; next < len(links); stop++ {
		if err := chromedp.Do(tab, chromedp.KeyEvent(kb.Tab)); err != nil {
			return fmt.Errorf("press the tab key: %w", err)
		}
		at, err := chromedp.Run(tab, chromedp.Evaluate[focus](focusScript))
		if err != nil {
			return fmt.Errorf("find the focus: %w", err)
		}
		switch {
		case at.Element == "" || stop > len(links)+otherStops:
			return fmt.Errorf("the tab key does not reach the link %q: it has left the page after %d links", links[next].Name, next)
		case !at.Outlined:
			return fmt.Errorf("nobody sees that %s has the focus: it has no outline", at.Element)
		case !at.Visible:
			return fmt.Errorf("%s has the focus outside the window", at.Element)
		case at.Link == next:
			next++
		case at.Link >= 0:
			return fmt.Errorf("the tab key reaches %s before the link %q", at.Element, links[next].Name)
		}
	}
	return nil
}

// console collects errors that a page causes.
type console struct {
	mu      sync.Mutex
	entries []string
}

func (c *console) note(event any) {
	var text string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error()
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeAssert {
			return
		}
		for _, arg := range e.Args {
			text += " " + string(arg.Value) + arg.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError {
			return
		}
		text = e.Entry.Text + " " + e.Entry.URL
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, text)
}

func (c *console) read() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.entries...)
}
